// RUN: reorder-broadcast
tt.func public @k(%p: tensor<8x16x!tt.ptr<f32>>, %q: !tt.ptr<f32>, %x: f32, %y: f32, %v: tensor<8x1xf32>, %w: tensor<8x1xf32>, %full: tensor<8x16xf32>, %i: i32) {
  %c2 = arith.constant dense<2.0> : tensor<8x16xf32>
  %xs = tt.splat %x : f32 -> tensor<8x16xf32>
  %ys = tt.splat %y : f32 -> tensor<8x16xf32>
  %a = arith.addf %xs, %ys : tensor<8x16xf32>
  %b = arith.mulf %a, %c2 : tensor<8x16xf32>
  tt.store %p, %b : tensor<8x16x!tt.ptr<f32>>
  %vb = tt.broadcast %v : tensor<8x1xf32> -> tensor<8x16xf32>
  %wb = tt.broadcast %w : tensor<8x1xf32> -> tensor<8x16xf32>
  %c = arith.mulf %vb, %wb : tensor<8x16xf32>
  %d = arith.addf %c, %c2 : tensor<8x16xf32>
  %e = math.exp %d : tensor<8x16xf32>
  tt.store %p, %e : tensor<8x16x!tt.ptr<f32>>
  // One operand is not broadcast: nothing is moved.
  %f = arith.addf %vb, %full : tensor<8x16xf32>
  tt.store %p, %f : tensor<8x16x!tt.ptr<f32>>
  // Pointers and offsets are elementwise too.
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %is = tt.splat %i : i32 -> tensor<8x16xi32>
  %g = tt.addptr %qs, %is : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  tt.store %g, %f : tensor<8x16x!tt.ptr<f32>>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @k(%p: tensor<8x16x!tt.ptr<f32>>, %q: !tt.ptr<f32>, %x: f32, %y: f32, %v: tensor<8x1xf32>, %w: tensor<8x1xf32>, %full: tensor<8x16xf32>, %i: i32) {
//     %cst = arith.constant 2.000000e+00 : f32
//     %cst_0 = arith.constant dense<2.000000e+00> : tensor<8x1xf32>
//     %0 = arith.addf %x, %y : f32
//     %1 = arith.mulf %0, %cst : f32
//     %b = tt.splat %1 : f32 -> tensor<8x16xf32>
//     tt.store %p, %b : tensor<8x16x!tt.ptr<f32>>
//     %vb = tt.broadcast %v : tensor<8x1xf32> -> tensor<8x16xf32>
//     %2 = arith.mulf %v, %w : tensor<8x1xf32>
//     %3 = arith.addf %2, %cst_0 : tensor<8x1xf32>
//     %4 = math.exp %3 : tensor<8x1xf32>
//     %e = tt.broadcast %4 : tensor<8x1xf32> -> tensor<8x16xf32>
//     tt.store %p, %e : tensor<8x16x!tt.ptr<f32>>
//     %f = arith.addf %vb, %full : tensor<8x16xf32>
//     tt.store %p, %f : tensor<8x16x!tt.ptr<f32>>
//     %5 = tt.addptr %q, %i : !tt.ptr<f32>, i32
//     %g = tt.splat %5 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
//     tt.store %g, %f : tensor<8x16x!tt.ptr<f32>>
//     tt.return
//   }
// }
