// RUN: f32-dot-tc
// Stays on a target without tf32, which computes it in f32.
tt.func public @tf32x3(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
// bf16 is needed for this one only.
tt.func public @bf16x3(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
// OUTPUT
// module {
//   tt.func public @tf32x3(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
//     %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
//     tt.return %d : tensor<32x32xf32>
//   }
//   tt.func public @bf16x3(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
//     %0 = arith.truncf %a : tensor<32x32xf32> to tensor<32x32xbf16>
//     %1 = arith.extf %0 : tensor<32x32xbf16> to tensor<32x32xf32>
//     %2 = arith.subf %a, %1 : tensor<32x32xf32>
//     %3 = arith.truncf %2 : tensor<32x32xf32> to tensor<32x32xbf16>
//     %4 = arith.truncf %b : tensor<32x32xf32> to tensor<32x32xbf16>
//     %5 = arith.extf %4 : tensor<32x32xbf16> to tensor<32x32xf32>
//     %6 = arith.subf %b, %5 : tensor<32x32xf32>
//     %7 = arith.truncf %6 : tensor<32x32xf32> to tensor<32x32xbf16>
//     %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
//     %8 = tt.dot %3, %4, %cst : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %9 = tt.dot %0, %7, %8 : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %10 = arith.cmpf uno, %9, %9 : tensor<32x32xf32>
//     %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
//     %11 = arith.select %10, %cst_0, %9 : tensor<32x32xi1>, tensor<32x32xf32>
//     %12 = tt.dot %0, %4, %11 : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %d = arith.addf %12, %c : tensor<32x32xf32>
//     tt.return %d : tensor<32x32xf32>
//   }
// }
