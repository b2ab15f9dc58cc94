// RUN: amd-optimize-epilogue
// The result of a dot is rounded and stored from where the MFMAs leave it.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @epilogue(%p: tensor<128x128x!tt.ptr<f16>, #blocked>, %d: tensor<128x128xf32, #mma>) {
    %0 = ttg.convert_layout %d : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #blocked>
    %1 = arith.truncf %0 : tensor<128x128xf32, #blocked> to tensor<128x128xf16, #blocked>
    tt.store %p, %1 : tensor<128x128x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @epilogue(%p: tensor<128x128x!tt.ptr<f16>, #blocked>, %d: tensor<128x128xf32, #mma>) {
//     %0 = arith.truncf %d : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
//     %1 = ttg.convert_layout %p : tensor<128x128x!tt.ptr<f16>, #blocked> -> tensor<128x128x!tt.ptr<f16>, #mma>
//     tt.store %1, %0 : tensor<128x128x!tt.ptr<f16>, #mma>
//     tt.return
//   }
// }
