// RUN: f32-dot-tc{emu-tf32}
// An f32 dot of nearly full precision: three dots of tf32.
tt.func public @product(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
// OUTPUT
// module {
//   tt.func public @product(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
//     %0 = tt.elementwise_inline_asm "cvt.rna.tf32.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a : tensor<32x32xf32> -> tensor<32x32xf32>
//     %1 = arith.subf %a, %0 : tensor<32x32xf32>
//     %2 = tt.elementwise_inline_asm "cvt.rna.tf32.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %b : tensor<32x32xf32> -> tensor<32x32xf32>
//     %3 = arith.subf %b, %2 : tensor<32x32xf32>
//     %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
//     %4 = tt.dot %1, %2, %cst, inputPrecision = tf32 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
//     %5 = tt.dot %0, %3, %4, inputPrecision = tf32 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
//     %6 = arith.cmpf uno, %5, %5 : tensor<32x32xf32>
//     %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
//     %7 = arith.select %6, %cst_0, %5 : tensor<32x32xi1>, tensor<32x32xf32>
//     %8 = tt.dot %0, %2, %7, inputPrecision = tf32 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
//     %d = arith.addf %8, %c : tensor<32x32xf32>
//     tt.return %d : tensor<32x32xf32>
//   }
// }
