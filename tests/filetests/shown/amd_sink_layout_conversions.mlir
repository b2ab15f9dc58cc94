// RUN: amd-sink-layout-conversions
// The scratch memory of the conversion can have the place of the buffer that is freed.
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = true}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @epilogue(%x: tensor<32x32xf32, #mma>, %p: tensor<32x32x!tt.ptr<f32>, #blocked>) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %y = ttg.convert_layout %x : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #blocked>
    ttg.local_dealloc %b : !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    tt.store %p, %y : tensor<32x32x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
// #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = true}>
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @epilogue(%x: tensor<32x32xf32, #mma>, %p: tensor<32x32x!tt.ptr<f32>, #blocked>) {
//     %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//     ttg.local_dealloc %b : !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//     %y = ttg.convert_layout %x : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #blocked>
//     tt.store %p, %y : tensor<32x32x!tt.ptr<f32>, #blocked>
//     tt.return
//   }
// }
