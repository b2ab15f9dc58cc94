// RUN: pad-shapes, cse

// What lies alike is said to have another shape, anything else is looked up.
// CHECK-LABEL: @reshapes
// CHECK: tt.reshape %x : tensor<8x4xf32> -> tensor<32xf32>
// CHECK: tt.reshape %y : tensor<4x8xf32> -> tensor<32xf32>
// CHECK: arith.divui
// CHECK: tt.gather {{.*}} (tensor<32xf32>, tensor<16xi32>) -> tensor<16xf32>
tt.func @reshapes(%x: tensor<6x4xf32>, %y: tensor<3x5xf32>) -> (tensor<24xf32>, tensor<15xf32>) {
  %a = tt.reshape %x : tensor<6x4xf32> -> tensor<24xf32>
  %b = tt.reshape %y : tensor<3x5xf32> -> tensor<15xf32>
  tt.return %a, %b : tensor<24xf32>, tensor<15xf32>
}

// Zeros that a load leaves behind its elements serve a product, through a conversion too.
// CHECK-LABEL: @products
// CHECK: %[[A:.*]] = tt.load
// CHECK: %[[WIDE:.*]] = arith.extf %[[A]] : tensor<16x32xf16> to tensor<16x32xf32>
// CHECK: %[[B:.*]] = arith.select {{.*}} : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK: tt.dot %[[WIDE]], %[[B]]
tt.func @products(%p: tensor<16x24x!tt.ptr<f16>>, %b: tensor<24x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %a = tt.load %p : tensor<16x24x!tt.ptr<f16>>
  %wide = arith.extf %a : tensor<16x24xf16> to tensor<16x24xf32>
  %d = tt.dot %wide, %b, %c : tensor<16x24xf32> * tensor<24x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// A function of several values has a flag beside them; along a dimension of a power of two there is nothing to do.
// CHECK-LABEL: @combines
// CHECK: tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: arith.ori {{.*}} : i1
// CHECK: (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>)
tt.func @combines(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0:2 = "tt.reduce"(%x, %x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %m = arith.mulf %b, %d : f32
    tt.reduce.return %a, %m : f32, f32
  }) : (tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %1:2 = "tt.reduce"(%x, %x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %m = arith.mulf %b, %d : f32
    tt.reduce.return %a, %m : f32, f32
  }) : (tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  tt.return %0#0 : tensor<3xf32>
}

// Of all elements the tile is added up as it lies.
// CHECK-LABEL: @everything
// CHECK: %[[IN:.*]] = arith.andi {{.*}} : tensor<4x8xi1>
// CHECK: %[[FILLED:.*]] = arith.select %[[IN]], %x, {{.*}} : tensor<4x8xi1>, tensor<4x8xf32>
// CHECK: tt.reshape %[[FILLED]] : tensor<4x8xf32> -> tensor<32xf32>
// CHECK-NOT: tt.gather
tt.func @everything(%x: tensor<3x5xf32>) -> f32 {
  %flat = tt.reshape %x allow_reorder : tensor<3x5xf32> -> tensor<15xf32>
  %s = "tt.reduce"(%flat) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tt.reduce.return %sum : f32
  }) : (tensor<15xf32>) -> f32
  tt.return %s : f32
}
