// RUN: tma-stores
// The buffer can be reused once the copy has read it: the next iteration waits for that, not this one.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
    }
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @rows(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %0 = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
//     scf.for %i = %c0 to %n step %c1  : i32 {
//       ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
//       ttg.local_store %x, %0 : tensor<32x64xf16, #blocked> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
//       ttng.fence_async_shared {bCluster = false}
//       ttng.async_tma_copy_local_to_global %d[%i, %c0] %0 : !tt.tensordesc<32x64xf16, #shared>, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
//     }
//     ttng.async_tma_store_wait {pendings = 0 : i32}
//     ttg.local_dealloc %0 : !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
//     tt.return
//   }
// }
