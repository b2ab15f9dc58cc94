// RUN: decompose-scaled-dot
// A dot of fp8 tiles whose second operand has one scale per 32 elements.
tt.func @product(%a: tensor<4x32xf8E4M3FN>, %b: tensor<32x4xf8E4M3FN>, %scale: tensor<4x1xf8E4M3FN>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot_scaled %a, %b scale %scale, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<4x32xf8E4M3FN> * tensor<32x4xf8E4M3FN>, tensor<4x1xf8E4M3FN> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}
// OUTPUT
// module {
//   tt.func @product(%a: tensor<4x32xf8E4M3FN>, %b: tensor<32x4xf8E4M3FN>, %scale: tensor<4x1xf8E4M3FN>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
//     %0 = tt.fp_to_fp %a : tensor<4x32xf8E4M3FN> -> tensor<4x32xf32>
//     %1 = tt.fp_to_fp %b : tensor<32x4xf8E4M3FN> -> tensor<32x4xf32>
//     %2 = tt.fp_to_fp %scale : tensor<4x1xf8E4M3FN> -> tensor<4x1xf32>
//     %3 = tt.expand_dims %2 {axis = 2 : i32} : tensor<4x1xf32> -> tensor<4x1x1xf32>
//     %4 = tt.broadcast %3 : tensor<4x1x1xf32> -> tensor<4x1x32xf32>
//     %5 = tt.reshape %4 : tensor<4x1x32xf32> -> tensor<4x32xf32>
//     %6 = tt.trans %5 {order = array<i32: 1, 0>} : tensor<4x32xf32> -> tensor<32x4xf32>
//     %7 = arith.mulf %1, %6 : tensor<32x4xf32>
//     %d = tt.dot %0, %7, %c : tensor<4x32xf32> * tensor<32x4xf32> -> tensor<4x4xf32>
//     tt.return %d : tensor<4x4xf32>
//   }
// }
