// RUN: reorder-instructions
// The tile of weights stays in shared memory, not in registers, until the loop reads it; that of inputs is stored at once.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @weights(%w: !ttg.memdesc<32x32xf16, #shared, #smem>, %p: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %b = ttg.local_load %w : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #right>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %j = arith.addi %i, %c1 : i32
      tt.print "next" {hex = false, isSigned = array<i32: 1>} : %j : i32
      %m = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %a = ttg.local_load %m : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #left>
      %d = tt.dot %a, %b, %c : tensor<64x32xf16, #left> * tensor<32x32xf16, #right> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @weights(%w: !ttg.memdesc<32x32xf16, #shared, #smem>, %p: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x32xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<64x32xf32, #mma>
//     %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>)  : i32 {
//       %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
//       %m = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//       %j = arith.addi %i, %c1 : i32
//       tt.print "next" {hex = false, isSigned = array<i32: 1>} : %j : i32
//       %a = ttg.local_load %m : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//       %b = ttg.local_load %w : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
//       %d = tt.dot %a, %b, %c : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x32xf32, #mma>
//       scf.yield %d : tensor<64x32xf32, #mma>
//     }
//     tt.return %r : tensor<64x32xf32, #mma>
//   }
// }
