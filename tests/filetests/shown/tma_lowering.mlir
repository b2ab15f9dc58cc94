// RUN: tma-lowering
// A tile is loaded to shared memory, and stored from there.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copy(%x: !tt.tensordesc<64x64xf16, #shared>, %y: !tt.tensordesc<64x64xf16, #shared>, %i: i32) {
    %block = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
    tt.descriptor_store %y[%i, %i], %block : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #blocked>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @copy(%x: !tt.tensordesc<64x64xf16, #shared>, %y: !tt.tensordesc<64x64xf16, #shared>, %i: i32) {
//     %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     %1 = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.init_barrier %1, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %true = arith.constant true
//     ttng.barrier_expect %1, 8192, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.async_tma_copy_global_to_local %x[%i, %i] %0, %1, %true : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     %c0_i32 = arith.constant 0 : i32
//     ttng.wait_barrier %1, %c0_i32 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.inval_barrier %1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %block = ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
//     %2 = ttg.local_alloc %block : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
//     ttng.fence_async_shared {bCluster = false}
//     ttng.async_tma_copy_local_to_global %y[%i, %i] %2 : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem>
//     ttng.async_tma_store_wait {pendings = 0 : i32}
//     tt.return
//   }
// }
