// RUN: combine
// The addend becomes the accumulator of the dot.
tt.func public @accumulate(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %product = tt.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %sum = arith.addf %product, %c : tensor<16x16xf32>
  tt.return %sum : tensor<16x16xf32>
}
// OUTPUT
// module {
//   tt.func public @accumulate(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
//     %sum = tt.dot %a, %b, %c : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
//     tt.return %sum : tensor<16x16xf32>
//   }
// }
