// RUN: amd-convert-to-buffer-ops{allow-buffer-atomics=true}
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Offsets from 0 to 255: the base may be any pointer, and 64-bit offsets are truncated.
  // CHECK-LABEL: @small
  // CHECK: [[P:%[a-z0-9_]+]] = tt.addptr %a, %o
  // CHECK: [[AT:%[a-z0-9_]+]] = arith.trunci
  // CHECK: amdg.buffer_load [[P]]{{\[}}[[AT]]]
  tt.func public @small(%a: !tt.ptr<f32>, %o: i64) -> tensor<256xf32, #blocked> {
    %p = tt.addptr %a, %o : !tt.ptr<f32>, i64
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %wide = arith.extui %r : tensor<256xi32, #blocked> to tensor<256xi64, #blocked>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %ps, %wide : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi64, #blocked>
    %x = tt.load %q : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return %x : tensor<256xf32, #blocked>
  }
  // A step backwards, and 2 GB of programs: both stay.
  // CHECK-LABEL: @large
  // CHECK-NOT: buffer
  // CHECK: tt.return
  tt.func public @large(%a: !tt.ptr<f32>) -> (tensor<256xf32, #blocked>, tensor<256xf32, #blocked>) {
    %c1 = arith.constant dense<1> : tensor<256xi32, #blocked>
    %c256 = arith.constant 256 : i32
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %back = arith.subi %r, %c1 : tensor<256xi32, #blocked>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %as, %back : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %x = tt.load %q : tensor<256x!tt.ptr<f32>, #blocked>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c256 : i32
    %firsts = tt.splat %first : i32 -> tensor<256xi32, #blocked>
    %at = arith.addi %firsts, %r : tensor<256xi32, #blocked>
    %p = tt.addptr %as, %at : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %y = tt.load %p : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return %x, %y : tensor<256xf32, #blocked>, tensor<256xf32, #blocked>
  }
  // Atomics of 32 and 64 bits and pairs of halves; no signed extremes, and none of the whole system.
  // CHECK-LABEL: @atomics
  // CHECK: amdg.buffer_atomic_rmw add, acq_rel, gpu
  // CHECK: tt.atomic_rmw max
  // CHECK: tt.atomic_rmw add, acq_rel, sys
  // CHECK: amdg.buffer_atomic_cas acq_rel, gpu
  tt.func public @atomics(%a: !tt.ptr<i32> {tt.pointer_range = 32 : i32}, %v: tensor<256xi32, #blocked>) {
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %as = tt.splat %a : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #blocked>
    %p = tt.addptr %as, %r : tensor<256x!tt.ptr<i32>, #blocked>, tensor<256xi32, #blocked>
    %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (tensor<256x!tt.ptr<i32>, #blocked>, tensor<256xi32, #blocked>) -> tensor<256xi32, #blocked>
    %1 = tt.atomic_rmw max, acq_rel, gpu, %p, %v : (tensor<256x!tt.ptr<i32>, #blocked>, tensor<256xi32, #blocked>) -> tensor<256xi32, #blocked>
    %2 = tt.atomic_rmw add, acq_rel, sys, %p, %v : (tensor<256x!tt.ptr<i32>, #blocked>, tensor<256xi32, #blocked>) -> tensor<256xi32, #blocked>
    %3 = tt.atomic_cas acq_rel, gpu, %p, %0, %1 : (tensor<256x!tt.ptr<i32>, #blocked>, tensor<256xi32, #blocked>, tensor<256xi32, #blocked>) -> tensor<256xi32, #blocked>
    tt.return
  }
}
