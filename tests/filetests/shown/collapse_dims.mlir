// RUN: collapse-dims
// Only the boundaries around the reduced axis are kept: the last two dimensions become one of size 4.
tt.func public @partial_sums(%x: tensor<16xf32>) -> tensor<8xf32> {
  %h = tt.reshape %x : tensor<16xf32> -> tensor<2x2x2x2xf32>
  %s = "tt.reduce"(%h) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tt.reduce.return %sum : f32
  }) : (tensor<2x2x2x2xf32>) -> tensor<2x2x2xf32>
  %out = tt.reshape %s : tensor<2x2x2xf32> -> tensor<8xf32>
  tt.return %out : tensor<8xf32>
}
// OUTPUT
// module {
//   tt.func public @partial_sums(%x: tensor<16xf32>) -> tensor<8xf32> {
//     %h = tt.reshape %x : tensor<16xf32> -> tensor<2x2x2x2xf32>
//     %0 = tt.reshape %x : tensor<16xf32> -> tensor<2x2x4xf32>
//     %s = "tt.reduce"(%0) <{axis = 1 : i32}> ({
//     ^bb0(%a: f32, %b: f32):
//       %sum = arith.addf %a, %b : f32
//       tt.reduce.return %sum : f32
//     }) : (tensor<2x2x4xf32>) -> tensor<2x4xf32>
//     %out = tt.reshape %s : tensor<2x4xf32> -> tensor<8xf32>
//     tt.return %out : tensor<8xf32>
//   }
// }
