// RUN: alignment-versions, cse

// The number of rows is no condition, the depth is: it bounds the mask along the contiguous dimension.
// CHECK-LABEL: @masked(
// CHECK: %[[M:.*]] = tt.load %{{.*}} : !tt.ptr<i32>
// CHECK: %[[K:.*]] = tt.load %{{.*}} : !tt.ptr<i32>
// CHECK: %[[REST:.*]] = arith.andi %[[K]], %c7_i32
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0_i32
// CHECK: scf.if %[[ALIGNED]]
// CHECK-NEXT: arith.constant -8
// CHECK-NEXT: %[[DEPTH:.*]] = arith.andi %[[K]], %c-8_i32
// CHECK-NEXT: tt.splat %[[DEPTH]]
// CHECK: } else {
tt.func public @masked(%sizes: !tt.ptr<i32>, %p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<16x16xf16>, %o: tensor<16x16x!tt.ptr<f32>>) {
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %zeros = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
  %none = arith.constant dense<0.000000e+00> : tensor<16x16xf16>
  %m = tt.load %sizes : !tt.ptr<i32>
  %second = tt.addptr %sizes, %c1 : !tt.ptr<i32>, i32
  %k = tt.load %second : !tt.ptr<i32>
  %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %cols = tt.expand_dims %range {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %starts = arith.muli %rows, %c64 : tensor<16x1xi32>
  %start = tt.broadcast %starts : tensor<16x1xi32> -> tensor<16x16xi32>
  %col = tt.broadcast %cols : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = arith.addi %start, %col : tensor<16x16xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %q = tt.addptr %ps, %at : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %ms = tt.splat %m : i32 -> tensor<16x1xi32>
  %ks = tt.splat %k : i32 -> tensor<1x16xi32>
  %below = arith.cmpi slt, %rows, %ms : tensor<16x1xi32>
  %left = arith.cmpi slt, %cols, %ks : tensor<1x16xi32>
  %below1 = tt.broadcast %below : tensor<16x1xi1> -> tensor<16x16xi1>
  %left1 = tt.broadcast %left : tensor<1x16xi1> -> tensor<16x16xi1>
  %mask = arith.andi %below1, %left1 : tensor<16x16xi1>
  %x = tt.load %q, %mask, %none : tensor<16x16x!tt.ptr<f16>>
  %d = tt.dot %x, %b, %zeros : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.store %o, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// An address that is computed outside of the block that defines the last root would not become aligned in a copy of it.
// CHECK-LABEL: @computed_earlier
// CHECK-NOT: scf.if
// CHECK-NOT: arith.andi
// CHECK: tt.return
tt.func public @computed_earlier(%strides: !tt.ptr<i32>, %bases: !tt.ptr<i64>, %n: i32, %b: tensor<16x16xf16>, %o: tensor<16x16x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
  %stride = tt.load %strides : !tt.ptr<i32>
  %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %cols = tt.expand_dims %range {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %wide = tt.splat %stride : i32 -> tensor<16x1xi32>
  %starts = arith.muli %rows, %wide : tensor<16x1xi32>
  %start = tt.broadcast %starts : tensor<16x1xi32> -> tensor<16x16xi32>
  %col = tt.broadcast %cols : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = arith.addi %start, %col : tensor<16x16xi32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %second = tt.addptr %bases, %i : !tt.ptr<i64>, i32
    %address = tt.load %second : !tt.ptr<i64>
    %a = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
    %q = tt.addptr %as, %at : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
    %x = tt.load %q : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %x, %b, %zeros : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    tt.store %o, %d : tensor<16x16x!tt.ptr<f32>>
  }
  tt.return
}
