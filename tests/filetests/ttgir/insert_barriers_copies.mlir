// RUN: allocate-shared-memory, insert-barriers
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!buffers = !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #one, #smem, mutable>
!tile = tensor<64x64xf16, #a>
!desc = !tt.tensordesc<64x64xf16, #shared>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // All know of the mbarrier before one thread speaks for them; a thread that has waited may read; all have waited
  // before the mbarrier goes.
  // CHECK-LABEL: @loaded
  tt.func @loaded(%d: !desc, %i: i32, %true: i1) -> !tile {
    %b = ttg.local_alloc : () -> !buffer
    %m = ttg.local_alloc : () -> !bar
    // CHECK: ttng.init_barrier
    ttng.init_barrier %m, 1 : !bar
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttng.barrier_expect
    ttng.barrier_expect %m, 8192, %true : !bar
    // CHECK-NEXT: ttng.async_tma_copy_global_to_local
    ttng.async_tma_copy_global_to_local %d[%i, %i] %b, %m, %true : !desc, !bar -> !buffer
    // CHECK-NEXT: ttng.wait_barrier
    ttng.wait_barrier %m, %i : !bar
    // CHECK-NEXT: ttg.local_load
    %x = ttg.local_load %b : !buffer -> !tile
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttng.inval_barrier
    ttng.inval_barrier %m : !bar
    tt.return %x : !tile
  }
  // All have read a buffer before it is filled again: one barrier, in front of who speaks for them.
  // CHECK-LABEL: @filled_again
  tt.func @filled_again(%d: !desc, %b: i32, %n: i32, %true: i1) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bufs = ttg.local_alloc : () -> !buffers
    %m = ttg.local_alloc : () -> !bar
    ttng.init_barrier %m, 1 : !bar
    // CHECK: scf.for
    scf.for %i = %zero to %n step %one : i32 {
      // CHECK: ttg.barrier local
      // CHECK-NEXT: ttng.barrier_expect
      ttng.barrier_expect %m, 16384, %true : !bar
      %x = ttg.memdesc_index %bufs[%zero] : !buffers -> !buffer
      %y = ttg.memdesc_index %bufs[%one] : !buffers -> !buffer
      // CHECK-NOT: ttg.barrier
      ttng.async_tma_copy_global_to_local %d[%i, %i] %x, %m, %true : !desc, !bar -> !buffer
      ttng.async_tma_copy_global_to_local %d[%i, %i] %y, %m, %true : !desc, !bar -> !buffer
      ttng.wait_barrier %m, %i : !bar
      %v = ttg.local_load %x : !buffer -> !tile
      %w = ttg.local_load %y : !buffer -> !tile
    }
    tt.return
  }
  // A store begins when all have written and fenced; who writes the buffer again has waited for those that wait.
  // CHECK-LABEL: @stored
  tt.func @stored(%d: !desc, %v: !tile, %w: !tile, %i: i32) {
    // CHECK: ttg.local_alloc
    %b = ttg.local_alloc : () -> !buffer
    // CHECK-NEXT: ttg.local_store
    ttg.local_store %v, %b : !tile -> !buffer
    // CHECK-NEXT: ttng.fence_async_shared
    ttng.fence_async_shared {bCluster = false}
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttng.async_tma_copy_local_to_global
    ttng.async_tma_copy_local_to_global %d[%i, %i] %b : !desc, !buffer
    // CHECK-NEXT: ttng.async_tma_store_wait
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    ttg.local_store %w, %b : !tile -> !buffer
    // CHECK: ttg.barrier local
    // CHECK-NEXT: ttng.async_tma_copy_local_to_global
    ttng.async_tma_copy_local_to_global %d[%i, %i] %b : !desc, !buffer
    // CHECK-NEXT: ttng.async_tma_store_wait
    // CHECK-NEXT: tt.return
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
  // One thread of each warp arrives for it, or one for all behind a barrier.
  // CHECK-LABEL: @released
  tt.func @released(%i: i32) {
    %m = ttg.local_alloc : () -> !bar
    ttng.init_barrier %m, 4 : !bar
    // CHECK: ttng.wait_barrier
    ttng.wait_barrier %m, %i : !bar
    // CHECK-NEXT: ttng.arrive_barrier {{.*}}, 4
    ttng.arrive_barrier %m, 4 : !bar
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttng.arrive_barrier {{.*}}, 1
    ttng.arrive_barrier %m, 1 : !bar
    tt.return
  }
}
