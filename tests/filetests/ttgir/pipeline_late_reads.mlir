// RUN: assign-latencies{num-stages=3}, schedule-loops, pipeline{num-stages=3}, canonicalize
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A branch reads the buffer after the copy of a later iteration was issued: one more buffer than the first dot needs.
  // CHECK-LABEL: @read_in_branch
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x16x32xbf16
  // CHECK: scf.for
  // CHECK: ttg.local_load
  // CHECK: tt.dot
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.if
  // CHECK: ttg.local_load
  tt.func public @read_in_branch(%n: i32, %more: i1, %p: tensor<16x32x!tt.ptr<bf16>, #blocked> {tt.contiguity = 32 : i32, tt.divisibility = 16 : i32}, %y: tensor<32x16xbf16, #b>, %z: tensor<16x32xbf16, #a>) -> (tensor<16x16xf32, #mma>, tensor<16x16xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x16xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %d = %zero) -> (tensor<16x16xf32, #mma>, tensor<16x16xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<16x32x!tt.ptr<bf16>, #blocked>
      %buffer = ttg.local_alloc %x : (tensor<16x32xbf16, #blocked>) -> !ttg.memdesc<16x32xbf16, #shared, #smem>
      %turned = ttg.memdesc_trans %buffer {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xbf16, #shared, #smem> -> !ttg.memdesc<32x16xbf16, #shared1, #smem>
      %rows = ttg.convert_layout %x : tensor<16x32xbf16, #blocked> -> tensor<16x32xbf16, #a>
      %c2 = tt.dot %rows, %y, %c : tensor<16x32xbf16, #a> * tensor<32x16xbf16, #b> -> tensor<16x16xf32, #mma>
      %d2 = scf.if %more -> (tensor<16x16xf32, #mma>) {
        %columns = ttg.local_load %turned : !ttg.memdesc<32x16xbf16, #shared1, #smem> -> tensor<32x16xbf16, #b>
        %s = tt.dot %z, %columns, %d : tensor<16x32xbf16, #a> * tensor<32x16xbf16, #b> -> tensor<16x16xf32, #mma>
        scf.yield %s : tensor<16x16xf32, #mma>
      } else {
        scf.yield %d : tensor<16x16xf32, #mma>
      }
      scf.yield %c2, %d2 : tensor<16x16xf32, #mma>, tensor<16x16xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<16x16xf32, #mma>, tensor<16x16xf32, #mma>
  }
}
