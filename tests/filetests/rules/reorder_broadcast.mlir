// RUN: reorder-broadcast
// Each function is named after the rule it is for.
tt.func public @splat_after_elementwise(%x: f32, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = arith.constant dense<2.0> : tensor<8xf32>
  %s = tt.splat %x : f32 -> tensor<8xf32>
  %a = arith.mulf %s, %c : tensor<8xf32>
  %b = arith.mulf %s, %y : tensor<8xf32>
  tt.return %a, %b : tensor<8xf32>, tensor<8xf32>
}
// Rows and columns meet in the whole tile.
tt.func public @broadcast_after_elementwise(%x: tensor<4x1xf32>, %y: tensor<1x8xf32>, %z: f32) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %s = tt.broadcast %x : tensor<4x1xf32> -> tensor<4x8xf32>
  %r = tt.broadcast %y : tensor<1x8xf32> -> tensor<4x8xf32>
  %u = tt.splat %z : f32 -> tensor<4x8xf32>
  %a = arith.mulf %s, %u : tensor<4x8xf32>
  %b = arith.mulf %s, %r : tensor<4x8xf32>
  tt.return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}
// OUTPUT
// module {
//   tt.func public @splat_after_elementwise(%x: f32, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
//     %cst = arith.constant 2.000000e+00 : f32
//     %s = tt.splat %x : f32 -> tensor<8xf32>
//     %0 = arith.mulf %x, %cst : f32
//     %a = tt.splat %0 : f32 -> tensor<8xf32>
//     %b = arith.mulf %s, %y : tensor<8xf32>
//     tt.return %a, %b : tensor<8xf32>, tensor<8xf32>
//   }
//   tt.func public @broadcast_after_elementwise(%x: tensor<4x1xf32>, %y: tensor<1x8xf32>, %z: f32) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
//     %s = tt.broadcast %x : tensor<4x1xf32> -> tensor<4x8xf32>
//     %r = tt.broadcast %y : tensor<1x8xf32> -> tensor<4x8xf32>
//     %0 = tt.splat %z : f32 -> tensor<4x1xf32>
//     %1 = arith.mulf %x, %0 : tensor<4x1xf32>
//     %a = tt.broadcast %1 : tensor<4x1xf32> -> tensor<4x8xf32>
//     %b = arith.mulf %s, %r : tensor<4x8xf32>
//     tt.return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
//   }
// }
