// RUN: assign-latencies
// Two dots read a tile contiguous along its first dimension, one of them transposed: from one buffer.
#blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 8], [0, 16], [8, 0], [16, 0], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot_b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%n: i32, %pb: tensor<64x32x!tt.ptr<f16>, #blocked> {tt.contiguity = dense<[8, 1]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %a: tensor<64x64xf16, #dot_a>, %zero: tensor<64x32xf32, #mma>, %sums: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cst = arith.constant dense<2048> : tensor<64x32xi32, #blocked>
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sums, %p = %pb) -> (tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #blocked>) : i32 {
// CHECK: tt.load %p {tt.latency = 2 : i32}
      %b = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %x = ttg.convert_layout %b : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #dot_b>
      %s = tt.dot %a, %x, %zero : tensor<64x64xf16, #dot_a> * tensor<64x32xf16, #dot_b> -> tensor<64x32xf32, #mma>
      %h = arith.truncf %s : tensor<64x32xf32, #mma> to tensor<64x32xf16, #mma>
      %w = ttg.convert_layout %h : tensor<64x32xf16, #mma> -> tensor<64x32xf16, #dot_a>
      %y = ttg.convert_layout %b : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #linear>
      %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x32xf16, #linear> -> tensor<32x64xf16, #dot_b>
      %r = tt.dot %w, %t, %acc : tensor<64x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %p, %cst : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %r, %next : tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #blocked>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
}
