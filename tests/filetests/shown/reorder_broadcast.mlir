// RUN: reorder-broadcast
// One scalar addition instead of 1024, and 32 square roots instead of 1024.
tt.func public @small(%x: i32, %y: i32, %v: tensor<32x1xf32>) -> (tensor<1024xi32>, tensor<32x32xf32>) {
  %a = tt.splat %x : i32 -> tensor<1024xi32>
  %b = tt.splat %y : i32 -> tensor<1024xi32>
  %c = arith.addi %a, %b : tensor<1024xi32>
  %w = tt.broadcast %v : tensor<32x1xf32> -> tensor<32x32xf32>
  %r = math.sqrt %w : tensor<32x32xf32>
  tt.return %c, %r : tensor<1024xi32>, tensor<32x32xf32>
}
// OUTPUT
// module {
//   tt.func public @small(%x: i32, %y: i32, %v: tensor<32x1xf32>) -> (tensor<1024xi32>, tensor<32x32xf32>) {
//     %0 = arith.addi %x, %y : i32
//     %c = tt.splat %0 : i32 -> tensor<1024xi32>
//     %1 = math.sqrt %v : tensor<32x1xf32>
//     %r = tt.broadcast %1 : tensor<32x1xf32> -> tensor<32x32xf32>
//     tt.return %c, %r : tensor<1024xi32>, tensor<32x32xf32>
//   }
// }
