// RUN: allocate-shared-memory, proxy-fence-insertion
// The second buffer reuses the bytes of the first, which threads wrote; the load before needs no fence.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!block = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!barrier = !ttg.memdesc<1xi64, #one, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @reused(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #blocked>, %i: i32, %true: i1) {
    %bar = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %bar, 1 : !barrier
    %a = ttg.local_alloc : () -> !block
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %bar, %true : !tt.tensordesc<64x64xf16, #shared>, !barrier -> !block
    ttng.wait_barrier %bar, %i : !barrier
    %b = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #flat, #smem>
    %y = ttg.local_load %b : !ttg.memdesc<64x64xf16, #flat, #smem> -> tensor<64x64xf16, #blocked>
    %c = ttg.local_alloc : () -> !block
    ttng.async_tma_copy_global_to_local %d[%i, %i] %c, %bar, %true : !tt.tensordesc<64x64xf16, #shared>, !barrier -> !block
    ttng.wait_barrier %bar, %i : !barrier
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #shared2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 8200 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @reused(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #blocked>, %i: i32, %true: i1) {
//     %bar = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %bar, %true : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.wait_barrier %bar, %i : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %b = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared2, #smem>
//     %y = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared2, #smem> -> tensor<64x64xf16, #blocked>
//     %c = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.fence_async_shared {bCluster = false}
//     ttng.async_tma_copy_global_to_local %d[%i, %i] %c, %bar, %true : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.wait_barrier %bar, %i : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     tt.return
//   }
// }
