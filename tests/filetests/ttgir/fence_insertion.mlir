// RUN: fence-insertion
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // The buffer is written by a store of the threads.
  tt.func public @local_store(%x: tensor<64x32xf16, #rows>, %b: !ttg.memdesc<32x32xf16, #shared, #smem>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    ttg.local_store %x, %a : tensor<64x32xf16, #rows> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }
  // Stays: both buffers are written by TMA, which uses the same proxy as the dot.
  tt.func public @tma(%x: !tt.tensordesc<64x32xf16, #shared>, %y: !tt.tensordesc<32x32xf16, #shared>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %x[%c0, %c0] %a, %bar, %true : !tt.tensordesc<64x32xf16, #shared>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %y[%c0, %c0] %b, %bar, %true : !tt.tensordesc<32x32xf16, #shared>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> * !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }
  // Stays: there is a fence already.
  tt.func public @fenced(%x: tensor<64x32xf16, #rows>, %y: tensor<32x32xf16, #rows>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %a = ttg.local_alloc %x : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %b = ttg.local_alloc %y : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
//   tt.func public @local_store(%x: tensor<64x32xf16, #blocked>, %b: !ttg.memdesc<32x32xf16, #shared, #smem>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
//     %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
//     ttg.local_store %x, %a : tensor<64x32xf16, #blocked> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
//     ttng.fence_async_shared {bCluster = false}
//     %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
//     tt.return %d : tensor<64x32xf32, #mma>
//   }
//   tt.func public @tma(%x: !tt.tensordesc<64x32xf16, #shared>, %y: !tt.tensordesc<32x32xf16, #shared>, %bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %true = arith.constant true
//     %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
//     %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//     ttng.async_tma_copy_global_to_local %x[%c0, %c0] %a, %bar, %true : !tt.tensordesc<64x32xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
//     ttng.async_tma_copy_global_to_local %y[%c0, %c0] %b, %bar, %true : !tt.tensordesc<32x32xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//     ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> * !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<64x32xf32, #mma>
//     tt.return %d : tensor<64x32xf32, #mma>
//   }
//   tt.func public @fenced(%x: tensor<64x32xf16, #blocked>, %y: tensor<32x32xf16, #blocked>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
//     %a = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//     %b = ttg.local_alloc %y : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
//     ttng.fence_async_shared {bCluster = false}
//     %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
//     tt.return %d : tensor<64x32xf32, #mma>
//   }
// }
