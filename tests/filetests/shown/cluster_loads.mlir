// RUN: cluster-loads
// A barrier will precede the first copy in a loop; both loads are issued before it.
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @tiles(%p: tensor<64x32x!tt.ptr<f16>, #a>, %q: tensor<64x32x!tt.ptr<f16>, #a>) {
    %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %m = ttg.local_alloc %x : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %y = tt.load %q : tensor<64x32x!tt.ptr<f16>, #a>
    %n = ttg.local_alloc %y : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @tiles(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %q: tensor<64x32x!tt.ptr<f16>, #blocked>) {
//     %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
//     %y = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
//     %m = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//     %n = ttg.local_alloc %y : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//     tt.return
//   }
// }
