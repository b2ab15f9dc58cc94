// RUN: tma-stores
// Stores of loops whose wait is deferred to the next write of their buffer.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Stores of one type share a buffer.
  // CHECK-LABEL: @two_of_a_kind
  // CHECK-COUNT-1: ttg.local_alloc
  // CHECK-NOT: ttg.local_alloc
  // CHECK-COUNT-2: ttng.async_tma_copy_local_to_global
  // CHECK-COUNT-1: ttg.local_dealloc
  tt.func public @two_of_a_kind(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>, %e: !tt.tensordesc<32x64xf16, #shared>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
      tt.descriptor_store %e[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
    }
    tt.return
  }
  // A store in a branch, too.
  // CHECK-LABEL: @in_branch
  // CHECK: ttg.local_alloc
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc
  // CHECK: tt.return
  tt.func public @in_branch(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %p {
        tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
      }
    }
    tt.return
  }
  // Reductions and scatters as well.
  // CHECK-LABEL: @reduction
  // CHECK: ttg.local_alloc
  // CHECK: scf.for
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_reduce add
  tt.func public @reduction(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_reduce add, %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
    }
    tt.return
  }
  // 1. Others may look for what was stored before an atomic that releases.
  // CHECK-LABEL: @released
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.descriptor_store
  // CHECK: tt.return
  tt.func public @released(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>, %l: !tt.ptr<i32>, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
      %o = tt.atomic_rmw add, release, gpu, %l, %c1, %p : (!tt.ptr<i32>, i32, i1) -> i32
    }
    tt.return
  }
  // A relaxed one says nothing of that.
  // CHECK-LABEL: @relaxed
  // CHECK: ttg.local_alloc
  // CHECK: scf.for
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc
  // CHECK: tt.return
  tt.func public @relaxed(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>, %l: !tt.ptr<i32>, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
      %o = tt.atomic_rmw add, relaxed, gpu, %l, %c1, %p : (!tt.ptr<i32>, i32, i1) -> i32
    }
    tt.return
  }
  // Nor may they behind a barrier.
  // CHECK-LABEL: @barrier
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.descriptor_store
  // CHECK: tt.return
  tt.func public @barrier(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
      gpu.barrier
    }
    tt.return
  }
  // 2. A descriptor that the loop makes anew is read until the copy is done.
  // CHECK-LABEL: @made_inside
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.descriptor_store
  // CHECK: tt.return
  tt.func public @made_inside(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>, %b: !tt.ptr<f16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %w = arith.constant 64 : i32
      %s = arith.constant 64 : i64
      %u = arith.constant 1 : i64
      %k = tt.make_tensor_descriptor %b, [%n, %w], [%s, %u] : !tt.ptr<f16>, !tt.tensordesc<32x64xf16, #shared>
      tt.descriptor_store %k[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
    }
    tt.return
  }
  // 3. The loop reads what it stored.
  // CHECK-LABEL: @read_back
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.descriptor_store
  // CHECK: tt.return
  tt.func public @read_back(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<32x64xf16, #shared> -> tensor<32x64xf16, #blocked>
      tt.descriptor_store %d[%i, %c0], %v : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
    }
    tt.return
  }
  // Also by an atomic that is relaxed.
  // CHECK-LABEL: @read_back_by_an_atomic
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.descriptor_store
  // CHECK: tt.return
  tt.func public @read_back_by_an_atomic(%n: i32, %x: tensor<32x64xf16, #blocked>, %b: !tt.ptr<f16>, %one: f16, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %w = arith.constant 64 : i32
    %s = arith.constant 64 : i64
    %u = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %b, [%n, %w], [%s, %u] : !tt.ptr<f16>, !tt.tensordesc<32x64xf16, #shared>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
      %o = tt.atomic_rmw fadd, relaxed, gpu, %b, %one, %p : (!tt.ptr<f16>, f16, i1) -> f16
    }
    tt.return
  }
  // Other memory it may read.
  // CHECK-LABEL: @read_elsewhere
  // CHECK: ttg.local_alloc
  // CHECK: scf.for
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc
  // CHECK: tt.return
  tt.func public @read_elsewhere(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>, %e: !tt.tensordesc<32x64xf16, #shared>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v = tt.descriptor_load %e[%c0, %c0] : !tt.tensordesc<32x64xf16, #shared> -> tensor<32x64xf16, #blocked>
      tt.descriptor_store %d[%i, %c0], %v : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
    }
    tt.return
  }
  // 4. Copies to one place may overtake each other.
  // CHECK-LABEL: @one_place
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.descriptor_store
  // CHECK: tt.return
  tt.func public @one_place(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%n, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
    }
    tt.return
  }
  // Nothing overlaps in a loop of one stage.
  // CHECK-LABEL: @one_stage
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.descriptor_store
  // CHECK: tt.return
  tt.func public @one_stage(%n: i32, %x: tensor<32x64xf16, #blocked>, %d: !tt.tensordesc<32x64xf16, #shared>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
    } {tt.num_stages = 1 : i32}
    tt.return
  }
  // Loops of any kind; what an outer one describes anew is not read any more behind the inner one.
  // CHECK-LABEL: @while
  // CHECK: tt.make_tensor_descriptor
  // CHECK: ttg.local_alloc
  // CHECK: scf.while
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK: ttng.async_tma_copy_local_to_global
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc
  tt.func public @while(%n: i32, %x: tensor<32x64xf16, #blocked>, %b: !tt.ptr<f16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %j = %c0 to %n step %c1 : i32 {
      %w = arith.constant 64 : i32
      %s = arith.constant 64 : i64
      %u = arith.constant 1 : i64
      %k = tt.make_tensor_descriptor %b, [%n, %w], [%s, %u] : !tt.ptr<f16>, !tt.tensordesc<32x64xf16, #shared>
      %end = scf.while (%i = %c0) : (i32) -> i32 {
        %more = arith.cmpi slt, %i, %j : i32
        scf.condition(%more) %i : i32
      } do {
      ^bb0(%i: i32):
        tt.descriptor_store %k[%i, %c0], %x : !tt.tensordesc<32x64xf16, #shared>, tensor<32x64xf16, #blocked>
        %next = arith.addi %i, %c1 : i32
        scf.yield %next : i32
      }
    }
    tt.return
  }
}
