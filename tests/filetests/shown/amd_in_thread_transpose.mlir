// RUN: amd-in-thread-transpose
// Each thread loads eight columns of four rows, so that it can store four elements along K at once.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @operand(%p: tensor<64x128x!tt.ptr<f16>, #blocked>) -> tensor<64x128xf16, #b> {
    %0 = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
    %1 = ttg.convert_layout %0 : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #b>
    tt.return %1 : tensor<64x128xf16, #b>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [4, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @operand(%p: tensor<64x128x!tt.ptr<f16>, #blocked>) -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> {
//     %0 = ttg.convert_layout %p : tensor<64x128x!tt.ptr<f16>, #blocked> -> tensor<64x128x!tt.ptr<f16>, #blocked1>
//     %1 = tt.load %0 : tensor<64x128x!tt.ptr<f16>, #blocked1>
//     %2 = ttg.convert_layout %1 : tensor<64x128xf16, #blocked1> -> tensor<64x128xf16, #blocked>
//     %3 = ttg.convert_layout %2 : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
//     tt.return %3 : tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
//   }
// }
