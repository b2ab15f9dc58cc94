// RUN: prefetch, dce
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot_b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // 16 along K are one piece: all of the next iteration's operands is read ahead, converted on the way.
  tt.func public @one_piece(%n: i32, %a0: !ttg.memdesc<64x16xi8, #shared, #smem>, %b0: !ttg.memdesc<16x64xf16, #shared1, #smem>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d:3 = scf.for %i = %c0 to %n step %c1 iter_args(%abuf = %a0, %bbuf = %b0, %acc = %zero) -> (!ttg.memdesc<64x16xi8, #shared, #smem>, !ttg.memdesc<16x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>) : i32 {
      %q = ttg.local_load %abuf : !ttg.memdesc<64x16xi8, #shared, #smem> -> tensor<64x16xi8, #dot_a>
      %a = arith.sitofp %q : tensor<64x16xi8, #dot_a> to tensor<64x16xf16, #dot_a>
      %b = ttg.local_load %bbuf : !ttg.memdesc<16x64xf16, #shared1, #smem> -> tensor<16x64xf16, #dot_b>
      %r = tt.dot %a, %b, %acc : tensor<64x16xf16, #dot_a> * tensor<16x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
      scf.yield %abuf, %bbuf, %r : !ttg.memdesc<64x16xi8, #shared, #smem>, !ttg.memdesc<16x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>
    }
    tt.return %d#2 : tensor<64x64xf32, #mma>
  }
  // Stays: two dots in the loop.
  tt.func public @two_dots(%n: i32, %a0: !ttg.memdesc<64x32xf16, #shared, #smem>, %b0: !ttg.memdesc<32x64xf16, #shared1, #smem>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d:3 = scf.for %i = %c0 to %n step %c1 iter_args(%abuf = %a0, %bbuf = %b0, %acc = %zero) -> (!ttg.memdesc<64x32xf16, #shared, #smem>, !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.local_load %abuf : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #dot_a>
      %b = ttg.local_load %bbuf : !ttg.memdesc<32x64xf16, #shared1, #smem> -> tensor<32x64xf16, #dot_b>
      %r = tt.dot %a, %b, %acc : tensor<64x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
      %s = tt.dot %a, %b, %r : tensor<64x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
      scf.yield %abuf, %bbuf, %s : !ttg.memdesc<64x32xf16, #shared, #smem>, !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>
    }
    tt.return %d#2 : tensor<64x64xf32, #mma>
  }
  // Stays: an operand that is in registers has nothing to read ahead.
  tt.func public @operand_in_registers(%n: i32, %a: tensor<64x32xf16, #dot_a>, %b0: !ttg.memdesc<32x64xf16, #shared1, #smem>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%bbuf = %b0, %acc = %zero) -> (!ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>) : i32 {
      %b = ttg.local_load %bbuf : !ttg.memdesc<32x64xf16, #shared1, #smem> -> tensor<32x64xf16, #dot_b>
      %r = tt.dot %a, %b, %acc : tensor<64x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
      scf.yield %bbuf, %r : !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>
    }
    tt.return %d#1 : tensor<64x64xf32, #mma>
  }
}
// OUTPUT
// #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// #shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @one_piece(%n: i32, %a0: !ttg.memdesc<64x16xi8, #shared, #smem>, %b0: !ttg.memdesc<16x64xf16, #shared1, #smem>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %0 = ttg.memdesc_subslice %a0[0, 0] : !ttg.memdesc<64x16xi8, #shared, #smem> -> !ttg.memdesc<64x16xi8, #shared, #smem>
//     %1 = ttg.local_load %0 : !ttg.memdesc<64x16xi8, #shared, #smem> -> tensor<64x16xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//     %a = arith.sitofp %1 : tensor<64x16xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> to tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//     %2 = ttg.memdesc_subslice %b0[0, 0] : !ttg.memdesc<16x64xf16, #shared1, #smem> -> !ttg.memdesc<16x64xf16, #shared1, #smem>
//     %3 = ttg.local_load %2 : !ttg.memdesc<16x64xf16, #shared1, #smem> -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//     %d:5 = scf.for %i = %c0 to %n step %c1 iter_args(%abuf = %a0, %bbuf = %b0, %acc = %zero, %arg8 = %a, %arg9 = %3) -> (!ttg.memdesc<64x16xi8, #shared, #smem>, !ttg.memdesc<16x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>, tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>)  : i32 {
//       %4 = ttg.memdesc_subslice %abuf[0, 0] : !ttg.memdesc<64x16xi8, #shared, #smem> -> !ttg.memdesc<64x16xi8, #shared, #smem>
//       %5 = ttg.local_load %4 : !ttg.memdesc<64x16xi8, #shared, #smem> -> tensor<64x16xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//       %a_0 = arith.sitofp %5 : tensor<64x16xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> to tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//       %6 = ttg.memdesc_subslice %bbuf[0, 0] : !ttg.memdesc<16x64xf16, #shared1, #smem> -> !ttg.memdesc<16x64xf16, #shared1, #smem>
//       %7 = ttg.local_load %6 : !ttg.memdesc<16x64xf16, #shared1, #smem> -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//       %r = tt.dot %arg8, %arg9, %acc : tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
//       scf.yield %abuf, %bbuf, %r, %a_0, %7 : !ttg.memdesc<64x16xi8, #shared, #smem>, !ttg.memdesc<16x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>, tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//     }
//     tt.return %d#2 : tensor<64x64xf32, #mma>
//   }
//   tt.func public @two_dots(%n: i32, %a0: !ttg.memdesc<64x32xf16, #shared, #smem>, %b0: !ttg.memdesc<32x64xf16, #shared1, #smem>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %d:3 = scf.for %i = %c0 to %n step %c1 iter_args(%abuf = %a0, %bbuf = %b0, %acc = %zero) -> (!ttg.memdesc<64x32xf16, #shared, #smem>, !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>)  : i32 {
//       %a = ttg.local_load %abuf : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//       %b = ttg.local_load %bbuf : !ttg.memdesc<32x64xf16, #shared1, #smem> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//       %r = tt.dot %a, %b, %acc : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
//       %s = tt.dot %a, %b, %r : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
//       scf.yield %abuf, %bbuf, %s : !ttg.memdesc<64x32xf16, #shared, #smem>, !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>
//     }
//     tt.return %d#2 : tensor<64x64xf32, #mma>
//   }
//   tt.func public @operand_in_registers(%n: i32, %a: tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %b0: !ttg.memdesc<32x64xf16, #shared1, #smem>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%bbuf = %b0, %acc = %zero) -> (!ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>)  : i32 {
//       %b = ttg.local_load %bbuf : !ttg.memdesc<32x64xf16, #shared1, #smem> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//       %r = tt.dot %a, %b, %acc : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
//       scf.yield %bbuf, %r : !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>
//     }
//     tt.return %d#1 : tensor<64x64xf32, #mma>
//   }
// }
