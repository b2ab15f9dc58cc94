// RUN: assign-latencies{num-stages=3}, schedule-loops, pipeline{num-stages=3}, canonicalize
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tile = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A loop without dots is pipelined only where it requests it.
  // CHECK-LABEL: @asks_for_nothing
  // CHECK-NOT: async_copy
  // CHECK: tt.load
  tt.func public @asks_for_nothing(%n: i32, %p: tensor<512x!tt.ptr<f32>, #blocked> {tt.contiguity = 512 : i32, tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #blocked>
      tt.store %p, %x : tensor<512x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }

  // Masked elements with a constant other than zero are selected after the read; the copy writes zeros there.
  // Before the loop it does where there is no iteration, too; in it a copy past the end is not done.
  // CHECK-LABEL: @masked
  // CHECK: ttg.async_copy_global_to_local {{.*}} mask {{%.*}} {contiguity = 4 : i32} :
  // CHECK: scf.for
  // CHECK: ttg.async_wait {{.*}} {num = 1 : i32}
  // CHECK: [[READ:%.*]] = ttg.local_load
  // CHECK: [[X:%.*]] = arith.select {{%.*}}, [[READ]], {{%.*}}
  // CHECK: tt.store {{%.*}}, [[X]]
  // CHECK: ttg.async_copy_global_to_local {{.*}} mask {{%.*}} {contiguity = 4 : i32, ttg.predicated} :
  // CHECK: ttg.async_wait {num = 0 : i32}
  tt.func public @masked(%n: i32, %p: tensor<512x!tt.ptr<f32>, #blocked> {tt.contiguity = 512 : i32, tt.divisibility = 16 : i32}, %m: tensor<512xi1, #blocked> {tt.constancy = 512 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant dense<1.0> : tensor<512xf32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p, %m, %one : tensor<512x!tt.ptr<f32>, #blocked>
      tt.store %p, %x : tensor<512x!tt.ptr<f32>, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return
  }

  // A scalar is copied as a tensor of one element.
  // CHECK-LABEL: @number
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x1xi32
  // CHECK: scf.for
  // CHECK: [[READ:%.*]] = ttg.local_load {{.*}} -> tensor<1xi32
  // CHECK: tt.unsplat [[READ]]
  tt.func public @number(%n: i32, %p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %at = tt.addptr %p, %i : !tt.ptr<i32>, i32
      %x = tt.load %at : !tt.ptr<i32>
      %to = tt.addptr %q, %i : !tt.ptr<i32>, i32
      tt.store %to, %x : !tt.ptr<i32>
    } {tt.num_stages = 3 : i32}
    tt.return
  }

  // Two TMA loads share an mbarrier, which expects the bytes of both.
  // CHECK-LABEL: @described
  // CHECK-COUNT-2: ttng.init_barrier {{.*}}, 1
  // CHECK: ttng.barrier_expect {{.*}}, 32768,
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttng.wait_barrier [[BAR:%.*]], [[PHASE:%.*]] :
  // CHECK: ttg.local_load
  // CHECK: ttg.local_load
  // CHECK: ttng.barrier_expect {{.*}}, 32768, [[MORE:%.*]] :
  // CHECK: ttng.async_tma_copy_global_to_local {{.*}}, [[MORE]] :
  // CHECK: ttng.inval_barrier
  tt.func public @described(%n: i32, %a: !tt.tensordesc<128x64xf16, #nvmma>, %b: !tt.tensordesc<128x64xf16, #nvmma>, %o: tensor<128x64x!tt.ptr<f16>, #tile>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<128x64xf16, #nvmma> -> tensor<128x64xf16, #tile>
      %y = tt.descriptor_load %b[%c0, %i] : !tt.tensordesc<128x64xf16, #nvmma> -> tensor<128x64xf16, #tile>
      %z = arith.addf %x, %y : tensor<128x64xf16, #tile>
      tt.store %o, %z : tensor<128x64x!tt.ptr<f16>, #tile>
    } {tt.num_stages = 3 : i32}
    tt.return
  }

  // Iterations that are known to exist need no mask.
  // CHECK-LABEL: @known_number
  // CHECK: ttg.async_copy_global_to_local {{%.*}}, {{%.*}} {contiguity
  // CHECK: scf.for
  tt.func public @known_number(%p: tensor<512x!tt.ptr<f32>, #blocked> {tt.contiguity = 512 : i32, tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    scf.for %i = %c0 to %c9 step %c1 : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #blocked>
      tt.store %p, %x : tensor<512x!tt.ptr<f32>, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return
  }

  // Operations with ordered side effects keep the order of iterations.
  // CHECK-LABEL: @seen
  // CHECK-NOT: async_copy
  // CHECK: ttg.barrier
  tt.func public @seen(%n: i32, %p: tensor<512x!tt.ptr<f32>, #blocked> {tt.contiguity = 512 : i32, tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #blocked>
      ttg.barrier local
      tt.store %p, %x : tensor<512x!tt.ptr<f32>, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return
  }
}
