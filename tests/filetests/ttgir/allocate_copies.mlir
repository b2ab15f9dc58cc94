// RUN: allocate-shared-memory
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What the copy engine still reads is not where a conversion has its scratch; once it is waited for, it may be.
  // CHECK-LABEL: @stored
  // CHECK: ttg.local_alloc %x {allocation.offset = 0 : i32}
  // CHECK: ttg.convert_layout %y {allocation.offset = 8192 : i32}
  // CHECK: ttng.async_tma_store_wait
  // CHECK: ttg.convert_layout %u {allocation.offset = 0 : i32}
  tt.func @stored(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #a>, %y: tensor<64x64xf16, #a>, %i: i32) -> tensor<64x64xf16, #a> {
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #a>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem>
    %u = ttg.convert_layout %y : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    %v = ttg.convert_layout %u : tensor<64x64xf16, #b> -> tensor<64x64xf16, #a>
    tt.return %v : tensor<64x64xf16, #a>
  }

  // A wait for another copy says nothing of this one: the dealloc does, and the second buffer takes the first one's place.
  // CHECK-LABEL: @loaded
  // CHECK: ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16
  // CHECK: ttg.local_dealloc
  // CHECK: ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16
  tt.func @loaded(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32, %p: i1, %one: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %two: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %one, %p : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_dealloc %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %n, %two, %p : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %two, %i : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }
}
