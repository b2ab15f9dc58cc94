// RUN: assign-latencies{num-stages=3}, schedule-loops, pipeline{num-stages=3}, canonicalize
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 8]}>
#turned = #ttg.linear<{register = [[0, 1], [0, 8], [0, 16], [0, 32], [8, 0], [16, 0], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]], block = []}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
// CHECK-DAG: #[[$SWIZZLED:shared[0-9]*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-DAG: #[[$PLAIN:shared[0-9]*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Rows of 128 bytes that are read as an operand and as a result of MMAs: without a swizzle the eight rows of each
  // matrix would be in the same banks.
  // CHECK-LABEL: @operand_and_result
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xbf16, #[[$SWIZZLED]], #smem, mutable>
  tt.func public @operand_and_result(%n: i32, %p: tensor<64x64x!tt.ptr<bf16>, #blocked> {tt.contiguity = 64 : i32, tt.divisibility = 16 : i32}, %a: tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>) -> (tensor<64x64xf32, #mma>, tensor<64x64xbf16, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xbf16, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %s = %none) -> (tensor<64x64xf32, #mma>, tensor<64x64xbf16, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<bf16>, #blocked>
      %rows = ttg.convert_layout %x : tensor<64x64xbf16, #blocked> -> tensor<64x64xbf16, #turned>
      %twice = arith.addf %rows, %rows : tensor<64x64xbf16, #turned>
      %operand = tt.trans %twice {order = array<i32: 1, 0>} : tensor<64x64xbf16, #turned> -> tensor<64x64xbf16, #b>
      %d = tt.dot %a, %operand, %c : tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<64x64xbf16, #b> -> tensor<64x64xf32, #mma>
      %same = ttg.convert_layout %x : tensor<64x64xbf16, #blocked> -> tensor<64x64xbf16, #mma>
      %t = arith.addf %s, %same : tensor<64x64xbf16, #mma>
      scf.yield %d, %t : tensor<64x64xf32, #mma>, tensor<64x64xbf16, #mma>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, tensor<64x64xbf16, #mma>
  }

  // Read as it is written, a tile has no conflicts without a swizzle.
  // CHECK-LABEL: @as_written
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xbf16, #[[$PLAIN]], #smem, mutable>
  tt.func public @as_written(%n: i32, %p: tensor<64x64x!tt.ptr<bf16>, #blocked> {tt.contiguity = 64 : i32, tt.divisibility = 16 : i32}) -> tensor<64x64xbf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xbf16, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %none) -> tensor<64x64xbf16, #blocked> : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<bf16>, #blocked>
      %t = arith.addf %s, %x : tensor<64x64xbf16, #blocked>
      scf.yield %t : tensor<64x64xbf16, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<64x64xbf16, #blocked>
  }
}
