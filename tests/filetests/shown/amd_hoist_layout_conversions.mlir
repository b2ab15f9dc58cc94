// RUN: amd-hoist-layout-conversions
// The first operand of the dot does not change in the loop: it is converted once.
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @invariant(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %y: tensor<32x32xf16, #b>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %x = tt.load %p : tensor<32x32x!tt.ptr<f16>, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %q = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
      %d = tt.dot %q, %y, %s : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
// #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = true}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @invariant(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %y: tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, %n: i32) -> tensor<32x32xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<32x32xf32, #mma>
//     %x = tt.load %p : tensor<32x32x!tt.ptr<f16>, #blocked>
//     %q = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
//     %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<32x32xf32, #mma>)  : i32 {
//       %d = tt.dot %q, %y, %s : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
//       scf.yield %d : tensor<32x32xf32, #mma>
//     }
//     tt.return %r : tensor<32x32xf32, #mma>
//   }
// }
