// RUN: reduce-data-duplication
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#square = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#tall = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Warps that differ in their rows only need the same columns of the right operand. The buffer has the order of the source.
  tt.func public @right_operand(%x: tensor<32x64xf16, #columns>) -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #square, kWidth = 2}>> {
    %y = ttg.convert_layout %x : tensor<32x64xf16, #columns> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #square, kWidth = 2}>>
    tt.return %y : tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #square, kWidth = 2}>>
  }
  // Of 4 bytes each, another swizzle.
  tt.func public @words(%x: tensor<64x32xf32, #rows>) -> tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #square, kWidth = 1}>> {
    %y = ttg.convert_layout %x : tensor<64x32xf32, #rows> -> tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #square, kWidth = 1}>>
    tt.return %y : tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #square, kWidth = 1}>>
  }
  // Stays: each warp has its own rows of the first dot's result, and needs no others as an operand of the second dot.
  tt.func public @within_a_warp(%x: tensor<64x32xf16, #tall>) -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #tall, kWidth = 2}>> {
    %y = ttg.convert_layout %x : tensor<64x32xf16, #tall> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #tall, kWidth = 2}>>
    tt.return %y : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #tall, kWidth = 2}>>
  }
  // Stays: the result is not an operand of a dot.
  tt.func public @no_operand(%x: tensor<64x32xf16, #rows>) -> tensor<64x32xf16, #columns> {
    %y = ttg.convert_layout %x : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #columns>
    tt.return %y : tensor<64x32xf16, #columns>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// #mma1 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>
// #shared1 = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @right_operand(%x: tensor<32x64xf16, #blocked>) -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> {
//     %0 = ttg.local_alloc %x : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared, #smem>
//     %y = ttg.local_load %0 : !ttg.memdesc<32x64xf16, #shared, #smem> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//     tt.return %y : tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//   }
//   tt.func public @words(%x: tensor<64x32xf32, #blocked1>) -> tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>> {
//     %0 = ttg.local_alloc %x : (tensor<64x32xf32, #blocked1>) -> !ttg.memdesc<64x32xf32, #shared1, #smem>
//     %y = ttg.local_load %0 : !ttg.memdesc<64x32xf32, #shared1, #smem> -> tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>>
//     tt.return %y : tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>>
//   }
//   tt.func public @within_a_warp(%x: tensor<64x32xf16, #mma1>) -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>> {
//     %y = ttg.convert_layout %x : tensor<64x32xf16, #mma1> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>>
//     tt.return %y : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>>
//   }
//   tt.func public @no_operand(%x: tensor<64x32xf16, #blocked1>) -> tensor<64x32xf16, #blocked> {
//     %y = ttg.convert_layout %x : tensor<64x32xf16, #blocked1> -> tensor<64x32xf16, #blocked>
//     tt.return %y : tensor<64x32xf16, #blocked>
//   }
// }
