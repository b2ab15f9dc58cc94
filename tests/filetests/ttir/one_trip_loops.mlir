// RUN: one-trip-loops, cse

// A tensor store between the loops may write what was loaded: both loads remain, hence both loops.
// CHECK-LABEL: @stores_a_row
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: scf.for
tt.func public @stores_a_row(%x: !tt.ptr<f32>, %y: tensor<64x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%a = %zeros) -> (tensor<64xf32>) : i32 {
    %p = tt.addptr %xs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    scf.yield %v : tensor<64xf32>
  }
  tt.store %y, %sum : tensor<64x!tt.ptr<f32>>
  scf.for %i = %c0 to %n step %c64 : i32 {
    %p = tt.addptr %xs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    tt.store %y, %v : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// Two loops that store to the row that they load: in the straight copy, the load of the second follows the store.
// CHECK-LABEL: @in_place
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @in_place(%p: tensor<64x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %i = %c0 to %n step %c64 : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<64xf32>
    tt.store %p, %w : tensor<64x!tt.ptr<f32>>
  }
  scf.for %i = %c0 to %n step %c64 : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// The product that the first loop carries out could be contracted with the addition of the second in straight code.
// CHECK-LABEL: @contracts
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @contracts(%p: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %ones = arith.constant dense<1.000000e+00> : tensor<64xf32>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%a = %ones) -> (tensor<64xf32>) : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %b = arith.mulf %v, %v : tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  scf.for %i = %c0 to %n step %c64 : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %v, %s : tensor<64xf32>
    tt.store %q, %w : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// A product with two uses: which of them LLVM contracts may depend on the code around.
// CHECK-LABEL: @product_with_two_uses
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @product_with_two_uses(%p: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %ones = arith.constant dense<1.000000e+00> : tensor<64xf32>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%a = %ones) -> (tensor<64xf32>) : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    scf.yield %v : tensor<64xf32>
  }
  scf.for %i = %c0 to %n step %c64 : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %b = arith.mulf %v, %v : tensor<64xf32>
    %c = arith.addf %b, %ones : tensor<64xf32>
    %d = arith.mulf %b, %c : tensor<64xf32>
    tt.store %q, %d : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// A square added to a carried zero is an FMA, as in the loop. Results that are used after the loops are yielded.
// CHECK-LABEL: @squares
// CHECK: %[[S:.*]], %[[T:.*]] = scf.if
// CHECK: math.fma
// CHECK-NOT: tt.load
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tt.store %{{.*}}, %[[S]]
// CHECK: tt.store %{{.*}}, %[[T]]
tt.func public @squares(%p: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%a = %zeros) -> (tensor<64xf32>) : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %b = arith.mulf %v, %v : tensor<64xf32>
    %c = arith.addf %a, %b : tensor<64xf32>
    scf.yield %c : tensor<64xf32>
  }
  %t = scf.for %i = %c0 to %n step %c64 iter_args(%a = %zeros) -> (tensor<64xf32>) : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %a, %v : tensor<64xf32>
    scf.yield %w : tensor<64xf32>
  }
  tt.store %q, %s : tensor<64x!tt.ptr<f32>>
  tt.store %q, %t : tensor<64x!tt.ptr<f32>>
  tt.return
}

// Constant bounds are for other passes; loops with other bounds, and loops that load nothing twice, stay.
// CHECK-LABEL: @others
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @others(%p: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %i = %c0 to %n step %c64 : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  }
  scf.for %i = %c0 to %m step %c64 : i32 {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  }
  scf.for %i = %c0 to %n step %c64 : i32 {
    %v = tt.load %q : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}
