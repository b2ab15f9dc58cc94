// RUN: reduce-data-duplication
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#turned = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The transpose is read from a buffer, in a branch; the operand itself is, too, and not exchanged through scratch.
  // CHECK-LABEL: @buffer_of_another_dot
  // CHECK: %x = tt.load
  // CHECK-NEXT: %m = ttg.local_alloc %x
  // CHECK-NEXT: ttg.local_load %m
  // CHECK-NOT: convert_layout
  // CHECK-LABEL: @own_exchange
  tt.func public @buffer_of_another_dot(%p: tensor<16x32x!tt.ptr<bf16>, #rows>, %c: tensor<16x16xf32, #mma>, %b: tensor<32x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %more: i1) -> tensor<16x16xf32, #mma> {
    %x = tt.load %p : tensor<16x32x!tt.ptr<bf16>, #rows>
    %a = ttg.convert_layout %x : tensor<16x32xbf16, #rows> -> tensor<16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %d = scf.if %more -> (tensor<16x16xf32, #mma>) {
      %m = ttg.local_alloc %x : (tensor<16x32xbf16, #rows>) -> !ttg.memdesc<16x32xbf16, #shared, #smem>
      %t = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xbf16, #shared, #smem> -> !ttg.memdesc<32x16xbf16, #turned, #smem>
      %l = ttg.local_load %t : !ttg.memdesc<32x16xbf16, #turned, #smem> -> tensor<32x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
      %e = tt.dot %a, %l, %c : tensor<16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<16x16xf32, #mma>
      scf.yield %e : tensor<16x16xf32, #mma>
    } else {
      scf.yield %c : tensor<16x16xf32, #mma>
    }
    tt.return %d : tensor<16x16xf32, #mma>
  }
  // Without a buffer the exchange within the warp stays.
  // CHECK: ttg.convert_layout %x
  tt.func public @own_exchange(%p: tensor<16x32x!tt.ptr<bf16>, #rows>) -> tensor<16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> {
    %x = tt.load %p : tensor<16x32x!tt.ptr<bf16>, #rows>
    %a = ttg.convert_layout %x : tensor<16x32xbf16, #rows> -> tensor<16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    tt.return %a : tensor<16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  }
}
