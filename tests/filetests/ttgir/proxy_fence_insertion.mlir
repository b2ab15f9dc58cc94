// RUN: allocate-shared-memory, proxy-fence-insertion
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!block = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!barrier = !ttg.memdesc<1xi64, #one, #smem, mutable>
!desc = !tt.tensordesc<64x64xf16, #shared>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Who calls a function may have written where its buffer is.
  // CHECK-LABEL: @callee
  // CHECK: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  tt.func private @callee(%d: !desc, %bar: !barrier, %i: i32, %true: i1) attributes {noinline = true} {
    %b = ttg.local_alloc : () -> !block
    ttng.async_tma_copy_global_to_local %d[%i, %i] %b, %bar, %true : !desc, !barrier -> !block
    ttng.wait_barrier %bar, %i : !barrier
    tt.return
  }
  // The scratch of a conversion at the end of an iteration is the buffer of the next; one fence is enough for two copies.
  // CHECK-LABEL: @loop
  // CHECK: scf.for
  // CHECK: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // CHECK: ttg.convert_layout
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @loop(%d: !desc, %x: tensor<64x64xf16, #a>, %n: i32, %true: i1) -> tensor<64x64xf16, #a> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bar = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %bar, 1 : !barrier
    %r = scf.for %i = %zero to %n step %one iter_args(%v = %x) -> (tensor<64x64xf16, #a>) : i32 {
      %b = ttg.local_alloc : () -> !block
      ttng.async_tma_copy_global_to_local %d[%i, %i] %b, %bar, %true : !desc, !barrier -> !block
      ttng.async_tma_copy_global_to_local %d[%i, %i] %b, %bar, %true : !desc, !barrier -> !block
      ttng.wait_barrier %bar, %i : !barrier
      %w = ttg.local_load %b : !block -> tensor<64x64xf16, #a>
      %s = arith.addf %v, %w : tensor<64x64xf16, #a>
      %t = ttg.convert_layout %s : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
      %u = ttg.convert_layout %t : tensor<64x64xf16, #b> -> tensor<64x64xf16, #a>
      scf.yield %u : tensor<64x64xf16, #a>
    }
    tt.return %r : tensor<64x64xf16, #a>
  }
}
