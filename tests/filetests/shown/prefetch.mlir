// RUN: prefetch, canonicalize
// Buffers with K = 32: two pieces of 16. The first is read one iteration ahead.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot_b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @products(%n: i32, %pa: tensor<64x32x!tt.ptr<f16>, #blocked>, %pb: tensor<32x64x!tt.ptr<f16>, #blocked>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a0 = tt.load %pa : tensor<64x32x!tt.ptr<f16>, #blocked>
    %a1 = ttg.local_alloc %a0 : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %b0 = tt.load %pb : tensor<32x64x!tt.ptr<f16>, #blocked>
    %b1 = ttg.local_alloc %b0 : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared1, #smem>
    %d:3 = scf.for %i = %c0 to %n step %c1 iter_args(%abuf = %a1, %bbuf = %b1, %acc = %zero) -> (!ttg.memdesc<64x32xf16, #shared, #smem>, !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.local_load %abuf : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #dot_a>
      %b = ttg.local_load %bbuf : !ttg.memdesc<32x64xf16, #shared1, #smem> -> tensor<32x64xf16, #dot_b>
      %r = tt.dot %a, %b, %acc : tensor<64x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
      %a2 = tt.load %pa : tensor<64x32x!tt.ptr<f16>, #blocked>
      %a3 = ttg.local_alloc %a2 : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %b2 = tt.load %pb : tensor<32x64x!tt.ptr<f16>, #blocked>
      %b3 = ttg.local_alloc %b2 : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared1, #smem>
      scf.yield %a3, %b3, %r : !ttg.memdesc<64x32xf16, #shared, #smem>, !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>
    }
    tt.return %d#2 : tensor<64x64xf32, #mma>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// #shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @products(%n: i32, %pa: tensor<64x32x!tt.ptr<f16>, #blocked>, %pb: tensor<32x64x!tt.ptr<f16>, #blocked>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %a0 = tt.load %pa : tensor<64x32x!tt.ptr<f16>, #blocked>
//     %a1 = ttg.local_alloc %a0 : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//     %b0 = tt.load %pb : tensor<32x64x!tt.ptr<f16>, #blocked>
//     %b1 = ttg.local_alloc %b0 : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared1, #smem>
//     %0 = ttg.memdesc_subslice %a1[0, 0] : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<64x16xf16, #shared, #smem, 64x32>
//     %1 = ttg.local_load %0 : !ttg.memdesc<64x16xf16, #shared, #smem, 64x32> -> tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//     %2 = ttg.memdesc_subslice %b1[0, 0] : !ttg.memdesc<32x64xf16, #shared1, #smem> -> !ttg.memdesc<16x64xf16, #shared1, #smem, 32x64>
//     %3 = ttg.local_load %2 : !ttg.memdesc<16x64xf16, #shared1, #smem, 32x64> -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//     %d:5 = scf.for %i = %c0 to %n step %c1 iter_args(%abuf = %a1, %bbuf = %b1, %acc = %zero, %arg8 = %1, %arg9 = %3) -> (!ttg.memdesc<64x32xf16, #shared, #smem>, !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>, tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>)  : i32 {
//       %4 = ttg.memdesc_subslice %abuf[0, 16] : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<64x16xf16, #shared, #smem, 64x32>
//       %5 = ttg.local_load %4 : !ttg.memdesc<64x16xf16, #shared, #smem, 64x32> -> tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//       %6 = ttg.memdesc_subslice %bbuf[16, 0] : !ttg.memdesc<32x64xf16, #shared1, #smem> -> !ttg.memdesc<16x64xf16, #shared1, #smem, 32x64>
//       %7 = ttg.local_load %6 : !ttg.memdesc<16x64xf16, #shared1, #smem, 32x64> -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//       %8 = tt.dot %arg8, %arg9, %acc : tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
//       %a2 = tt.load %pa : tensor<64x32x!tt.ptr<f16>, #blocked>
//       %a3 = ttg.local_alloc %a2 : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//       %b2 = tt.load %pb : tensor<32x64x!tt.ptr<f16>, #blocked>
//       %b3 = ttg.local_alloc %b2 : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared1, #smem>
//       %9 = ttg.memdesc_subslice %a3[0, 0] : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<64x16xf16, #shared, #smem, 64x32>
//       %10 = ttg.local_load %9 : !ttg.memdesc<64x16xf16, #shared, #smem, 64x32> -> tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//       %11 = ttg.memdesc_subslice %b3[0, 0] : !ttg.memdesc<32x64xf16, #shared1, #smem> -> !ttg.memdesc<16x64xf16, #shared1, #smem, 32x64>
//       %12 = ttg.local_load %11 : !ttg.memdesc<16x64xf16, #shared1, #smem, 32x64> -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//       %r = tt.dot %5, %7, %8 : tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
//       scf.yield %a3, %b3, %r, %10, %12 : !ttg.memdesc<64x32xf16, #shared, #smem>, !ttg.memdesc<32x64xf16, #shared1, #smem>, tensor<64x64xf32, #mma>, tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//     }
//     tt.return %d#2 : tensor<64x64xf32, #mma>
//   }
// }
