// RUN: assign-latencies{num-stages=3}, schedule-loops, pipeline{num-stages=3}, canonicalize
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The remainder of %n has at most one iteration: its copy precedes a branch, and there is none for a second iteration.
  // CHECK-LABEL: @at_most_one
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x512xf32
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NOT: scf.for
  // CHECK: [[SUM:%.*]] = scf.if
  // CHECK: ttg.async_wait {{.*}} {num = 0 : i32}
  // CHECK-NOT: ttg.async_copy_global_to_local
  // CHECK-NOT: ttg.async_commit_group
  // CHECK: scf.yield
  // CHECK: } else {
  // CHECK: scf.yield {{%.*}} : tensor<512xf32
  // CHECK: tt.return [[SUM]]
  tt.func public @at_most_one(%n: i32, %p: tensor<512x!tt.ptr<f32>, #blocked> {tt.contiguity = 512 : i32, tt.divisibility = 16 : i32}) -> tensor<512xf32, #blocked> {
    %c128 = arith.constant 128 : i32
    %none = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %blocks = arith.divsi %n, %c128 : i32
    %full = arith.muli %blocks, %c128 : i32
    %r = scf.for %i = %full to %n step %c128 iter_args(%s = %none) -> tensor<512xf32, #blocked> : i32 {
      %q = tt.splat %i : i32 -> tensor<512xi32, #blocked>
      %at = tt.addptr %p, %q : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %at : tensor<512x!tt.ptr<f32>, #blocked>
      %t = arith.addf %s, %x : tensor<512xf32, #blocked>
      scf.yield %t : tensor<512xf32, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<512xf32, #blocked>
  }

  // Both copies precede the loop. Its waits count a group of copies for each iteration, if an empty one.
  // CHECK-LABEL: @at_most_two
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x512xf32
  // CHECK-COUNT-2: ttg.async_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttg.async_wait {{.*}} {num = 1 : i32}
  // CHECK-NOT: ttg.async_copy_global_to_local
  // CHECK: ttg.async_commit_group
  // CHECK: scf.yield
  tt.func public @at_most_two(%n: i32, %p: tensor<512x!tt.ptr<f32>, #blocked> {tt.contiguity = 512 : i32, tt.divisibility = 16 : i32}) -> tensor<512xf32, #blocked> {
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %none = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %blocks = arith.divsi %n, %c128 : i32
    %full = arith.muli %blocks, %c128 : i32
    %r = scf.for %i = %full to %n step %c64 iter_args(%s = %none) -> tensor<512xf32, #blocked> : i32 {
      %q = tt.splat %i : i32 -> tensor<512xi32, #blocked>
      %at = tt.addptr %p, %q : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %at : tensor<512x!tt.ptr<f32>, #blocked>
      %t = arith.addf %s, %x : tensor<512xf32, #blocked>
      scf.yield %t : tensor<512xf32, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<512xf32, #blocked>
  }
}
