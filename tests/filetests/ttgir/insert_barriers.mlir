// RUN: allocate-shared-memory, insert-barriers
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!buffer = !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
!several = !ttg.memdesc<2x16x16xf32, #flat, #smem, mutable>
!tile = tensor<16x16xf32, #a>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // RAW, WAR, WAW; two reads need none.
  // CHECK-LABEL: @hazards
  tt.func @hazards(%x: !tile) {
    %b = ttg.local_alloc : () -> !buffer
    // CHECK: ttg.local_store
    ttg.local_store %x, %b : !tile -> !buffer
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_load
    %y = ttg.local_load %b : !buffer -> !tile
    // CHECK-NEXT: ttg.local_load
    %z = ttg.local_load %b : !buffer -> !tile
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    ttg.local_store %y, %b : !tile -> !buffer
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    ttg.local_store %z, %b : !tile -> !buffer
    tt.return
  }
  // An existing barrier suffices; disjoint buffers, and views known to be disjoint, need none.
  // CHECK-LABEL: @enough
  // CHECK-NOT: ttg.barrier
  // CHECK: gpu.barrier
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func @enough(%x: !tile) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %b = ttg.local_alloc : () -> !buffer
    %c = ttg.local_alloc : () -> !several
    ttg.local_store %x, %b : !tile -> !buffer
    gpu.barrier
    %y = ttg.local_load %b : !buffer -> !tile
    %first = ttg.memdesc_index %c[%zero] : !several -> !buffer
    %second = ttg.memdesc_index %c[%one] : !several -> !buffer
    ttg.local_store %x, %first : !tile -> !buffer
    ttg.local_store %y, %second : !tile -> !buffer
    tt.return
  }
  // The end of an iteration precedes the start of the next.
  // CHECK-LABEL: @back_edge
  tt.func @back_edge(%x: !tile, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %b = ttg.local_alloc : () -> !buffer
    // CHECK: scf.for
    scf.for %i = %zero to %n step %one : i32 {
      // CHECK-NEXT: ttg.barrier local
      // CHECK-NEXT: ttg.local_store
      ttg.local_store %x, %b : !tile -> !buffer
      // CHECK-NEXT: ttg.barrier local
      // CHECK-NEXT: ttg.local_load
      %y = ttg.local_load %b : !buffer -> !tile
    }
    tt.return
  }
  // One of two branches may have written.
  // CHECK-LABEL: @branches
  tt.func @branches(%x: !tile, %c: i1) {
    %b = ttg.local_alloc : () -> !buffer
    scf.if %c {
      ttg.local_store %x, %b : !tile -> !buffer
    }
    // CHECK: ttg.local_store
    // CHECK-NEXT: }
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_load
    %y = ttg.local_load %b : !buffer -> !tile
    tt.return
  }
  // CHECK-LABEL: @blocks
  tt.func @blocks(%x: !tile, %c: i1) {
    %b = ttg.local_alloc : () -> !buffer
    cf.cond_br %c, ^write, ^read
  ^write:
    ttg.local_store %x, %b : !tile -> !buffer
    cf.br ^read
    // CHECK: cf.br
    // CHECK-NEXT: ^
  ^read:
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_load
    %y = ttg.local_load %b : !buffer -> !tile
    tt.return
  }
  // A conversion across warps synchronizes internally, for all earlier accesses; within a warp, only for its own threads.
  // CHECK-LABEL: @conversions
  tt.func @conversions(%x: !tile) -> (tensor<16x16xf32, #b>, !tile) {
    %b = ttg.local_alloc : () -> !buffer
    ttg.local_store %x, %b : !tile -> !buffer
    // CHECK: ttg.local_store
    // CHECK-NEXT: ttg.convert_layout
    %y = ttg.convert_layout %x : !tile -> tensor<16x16xf32, #b>
    // CHECK-NEXT: ttg.local_load
    %z = ttg.local_load %b : !buffer -> !tile
    // CHECK-NEXT: tt.return
    tt.return %y, %z : tensor<16x16xf32, #b>, !tile
  }
  // One barrier after two consecutive waits.
  // CHECK-LABEL: @copies
  tt.func @copies(%p: tensor<16x16x!tt.ptr<f32>, #a>) {
    %b = ttg.local_alloc : () -> !buffer
    %t = ttg.async_copy_global_to_local %p, %b : tensor<16x16x!tt.ptr<f32>, #a> -> <16x16xf32, #flat, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    // CHECK: ttg.async_wait
    %u = ttg.async_wait %g {num = 0 : i32}
    // CHECK-NEXT: ttg.async_wait
    %w = ttg.async_wait %g {num = 0 : i32}
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_load
    %y = ttg.local_load %b token %w : !buffer -> !tile
    tt.return
  }
  // A releasing atomic starts with a barrier: its own scratch, that of the lock in the previous round, needs no
  // other, and a barrier of the program before it is redundant. An acquiring one has none before it.
  // CHECK-LABEL: @lock
  tt.func @lock(%lock: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // CHECK: scf.while
    // CHECK-NEXT: tt.atomic_cas acq_rel
    scf.while : () -> () {
      %old = tt.atomic_cas acq_rel, gpu, %lock, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %taken = arith.cmpi eq, %old, %one : i32
      scf.condition(%taken)
    } do {
      scf.yield
    }
    // CHECK-NOT: ttg.barrier
    // CHECK: tt.atomic_rmw exch, acq_rel
    ttg.barrier local
    %was = tt.atomic_rmw exch, acq_rel, gpu, %lock, %zero : (!tt.ptr<i32>, i32) -> i32
    tt.return
  }
  // CHECK-LABEL: @calls
  tt.func public @calls(%x: !tile) {
    %b = ttg.local_alloc : () -> !buffer
    ttg.local_store %x, %b : !tile -> !buffer
    ttg.local_dealloc %b : !buffer
    // CHECK: ttg.barrier local
    // CHECK-NEXT: tt.call
    tt.call @hazards(%x) : (!tile) -> ()
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: tt.call
    tt.call @hazards(%x) : (!tile) -> ()
    tt.return
  }
}
