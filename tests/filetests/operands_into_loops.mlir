// RUN: reorder-instructions
// An operand used by one dot in each of two loops is read in both, and so in a loop and a
// branch; one used twice in a loop stays in registers.
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @two_loops
  // CHECK-NOT: ttg.local_load
  // CHECK: scf.for
  // CHECK: %[[B:.*]] = ttg.local_load %w
  // CHECK: tt.dot %{{.*}}, %[[B]]
  // CHECK: scf.for
  // CHECK: %[[C:.*]] = ttg.local_load %w
  // CHECK: tt.dot %{{.*}}, %[[C]]
  tt.func public @two_loops(%w: !ttg.memdesc<32x32xf16, #shared, #smem>, %a: tensor<64x32xf16, #left>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %b = ttg.local_load %w : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #right>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>) : i32 {
      %d = tt.dot %a, %b, %c : tensor<64x32xf16, #left> * tensor<32x32xf16, #right> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%c = %r) -> (tensor<64x32xf32, #mma>) : i32 {
      %d = tt.dot %a, %b, %c : tensor<64x32xf16, #left> * tensor<32x32xf16, #right> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %s : tensor<64x32xf32, #mma>
  }
  // CHECK-LABEL: @loop_and_branch
  // CHECK-NOT: ttg.local_load
  // CHECK: scf.for
  // CHECK: %[[B:.*]] = ttg.local_load %w
  // CHECK: tt.dot %{{.*}}, %[[B]]
  // CHECK: scf.if
  // CHECK: %[[C:.*]] = ttg.local_load %w
  // CHECK: tt.dot %{{.*}}, %[[C]]
  tt.func public @loop_and_branch(%w: !ttg.memdesc<32x32xf16, #shared, #smem>, %a: tensor<64x32xf16, #left>, %n: i32, %more: i1) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %b = ttg.local_load %w : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #right>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>) : i32 {
      %d = tt.dot %a, %b, %c : tensor<64x32xf16, #left> * tensor<32x32xf16, #right> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    %s = scf.if %more -> (tensor<64x32xf32, #mma>) {
      %d = tt.dot %a, %b, %r : tensor<64x32xf16, #left> * tensor<32x32xf16, #right> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    } else {
      scf.yield %r : tensor<64x32xf32, #mma>
    }
    tt.return %s : tensor<64x32xf32, #mma>
  }
  // CHECK-LABEL: @twice_in_a_loop
  // CHECK: ttg.local_load
  // CHECK: scf.for
  // CHECK-NOT: ttg.local_load
  tt.func public @twice_in_a_loop(%w: !ttg.memdesc<32x32xf16, #shared, #smem>, %a: tensor<64x32xf16, #left>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %b = ttg.local_load %w : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #right>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>) : i32 {
      %d = tt.dot %a, %b, %c : tensor<64x32xf16, #left> * tensor<32x32xf16, #right> -> tensor<64x32xf32, #mma>
      %e = tt.dot %a, %b, %d : tensor<64x32xf16, #left> * tensor<32x32xf16, #right> -> tensor<64x32xf32, #mma>
      scf.yield %e : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
}
