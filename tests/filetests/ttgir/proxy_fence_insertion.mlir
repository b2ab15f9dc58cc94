// RUN: allocate-shared-memory, proxy-fence-insertion
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
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
  // What was copied is written where it is waited for; behind that fence there is nothing for the others to order, but
  // for what a thread stores in between.
  // CHECK-LABEL: @products
  // CHECK: scf.for
  // CHECK: ttg.async_wait
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @products(%p: tensor<64x64x!tt.ptr<f16>, #a>, %x: tensor<64x64xf16, #a>, %c: tensor<64x64xf32, #mma>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %u = ttg.local_alloc : () -> !block
    %v = ttg.local_alloc : () -> !block
    scf.for %i = %zero to %n step %one : i32 {
      %t = ttg.async_copy_global_to_local %p, %u : tensor<64x64x!tt.ptr<f16>, #a> -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %t
      %w = ttg.async_wait %g {num = 0 : i32}
      ttng.fence_async_shared {bCluster = false}
      %d = ttng.warp_group_dot %u, %u, %c {inputPrecision = 0 : i32} : !block * !block -> tensor<64x64xf32, #mma>
      ttng.fence_async_shared {bCluster = false}
      %e = ttng.warp_group_dot %u, %u, %d {inputPrecision = 0 : i32} : !block * !block -> tensor<64x64xf32, #mma>
      ttg.local_store %x, %v : tensor<64x64xf16, #a> -> !block
      ttng.fence_async_shared {bCluster = false}
      %f = ttng.warp_group_dot %u, %v, %e {inputPrecision = 0 : i32} : !block * !block -> tensor<64x64xf32, #mma>
      ttng.fence_async_shared {bCluster = false}
      %h = ttng.warp_group_dot %v, %v, %f {inputPrecision = 0 : i32} : !block * !block -> tensor<64x64xf32, #mma>
    }
    tt.return
  }
  // Buffers that are arguments may lie anywhere: their fences stay.
  // CHECK-LABEL: @arguments
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func private @arguments(%u: !block, %c: tensor<64x64xf32, #mma>) attributes {noinline = true} {
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %u, %u, %c {inputPrecision = 0 : i32} : !block * !block -> tensor<64x64xf32, #mma>
    ttng.fence_async_shared {bCluster = false}
    %e = ttng.warp_group_dot %u, %u, %d {inputPrecision = 0 : i32} : !block * !block -> tensor<64x64xf32, #mma>
    tt.return
  }
}
