// RUN: f32-dot-tc{emu-tf32}
// Three bf16 parts of each operand, six dots, the smallest first.
tt.func public @bf16x6(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
// Stays: one pass of tf32.
tt.func public @tf32(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
// Stays: IEEE precision is that of f32 itself.
tt.func public @ieee(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
// Stays: operands of f16 have no bits to split.
tt.func public @halves(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
// OUTPUT
// module {
//   tt.func public @bf16x6(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
//     %0 = arith.truncf %a : tensor<32x32xf32> to tensor<32x32xbf16>
//     %1 = arith.extf %0 : tensor<32x32xbf16> to tensor<32x32xf32>
//     %2 = arith.subf %a, %1 : tensor<32x32xf32>
//     %3 = arith.truncf %2 : tensor<32x32xf32> to tensor<32x32xbf16>
//     %4 = arith.extf %3 : tensor<32x32xbf16> to tensor<32x32xf32>
//     %5 = arith.subf %2, %4 : tensor<32x32xf32>
//     %6 = arith.truncf %5 : tensor<32x32xf32> to tensor<32x32xbf16>
//     %7 = arith.truncf %b : tensor<32x32xf32> to tensor<32x32xbf16>
//     %8 = arith.extf %7 : tensor<32x32xbf16> to tensor<32x32xf32>
//     %9 = arith.subf %b, %8 : tensor<32x32xf32>
//     %10 = arith.truncf %9 : tensor<32x32xf32> to tensor<32x32xbf16>
//     %11 = arith.extf %10 : tensor<32x32xbf16> to tensor<32x32xf32>
//     %12 = arith.subf %9, %11 : tensor<32x32xf32>
//     %13 = arith.truncf %12 : tensor<32x32xf32> to tensor<32x32xbf16>
//     %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
//     %14 = tt.dot %3, %10, %cst : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %15 = tt.dot %6, %7, %14 : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %16 = tt.dot %0, %13, %15 : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %17 = tt.dot %3, %7, %16 : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %18 = tt.dot %0, %10, %17 : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %19 = arith.cmpf uno, %18, %18 : tensor<32x32xf32>
//     %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
//     %20 = arith.select %19, %cst_0, %18 : tensor<32x32xi1>, tensor<32x32xf32>
//     %21 = tt.dot %0, %7, %20 : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
//     %d = arith.addf %21, %c : tensor<32x32xf32>
//     tt.return %d : tensor<32x32xf32>
//   }
//   tt.func public @tf32(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
//     %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
//     tt.return %d : tensor<32x32xf32>
//   }
//   tt.func public @ieee(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
//     %d = tt.dot %a, %b, %c : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
//     tt.return %d : tensor<32x32xf32>
//   }
//   tt.func public @halves(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
//     %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
//     tt.return %d : tensor<32x32xf32>
//   }
// }
