// RUN: amd-block-pingpong
// With 4 warps: one cluster of loads, one of matrix instructions, which has the higher priority.
#blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = true}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @steps(%pa: tensor<32x16x!tt.ptr<f16>, #blocked>, %pb: tensor<16x32x!tt.ptr<f16>, #blocked1>, %zero: tensor<32x32xf32, #mma>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a2 = ttg.local_alloc : () -> !ttg.memdesc<1x32x16xf16, #shared, #smem, mutable>
    %b2 = ttg.local_alloc : () -> !ttg.memdesc<1x16x32xf16, #shared, #smem, mutable>
    %a1 = ttg.memdesc_index %a2[%c0] : !ttg.memdesc<1x32x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
    %b1 = ttg.memdesc_index %b2[%c0] : !ttg.memdesc<1x16x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<32x16x!tt.ptr<f16>, #blocked>
      %y = tt.load %pb : tensor<16x32x!tt.ptr<f16>, #blocked1>
      %a = ttg.local_load %a1 : !ttg.memdesc<32x16xf16, #shared, #smem, mutable> -> tensor<32x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
      %b = ttg.local_load %b1 : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> tensor<16x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
      %d = tt.dot %a, %b, %acc : tensor<32x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<16x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
      ttg.local_store %x, %a1 : tensor<32x16xf16, #blocked> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
      ttg.local_store %y, %b1 : tensor<16x32xf16, #blocked1> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = true}>
// #shared = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @steps(%pa: tensor<32x16x!tt.ptr<f16>, #blocked>, %pb: tensor<16x32x!tt.ptr<f16>, #blocked1>, %zero: tensor<32x32xf32, #mma>, %n: i32) -> tensor<32x32xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %a2 = ttg.local_alloc : () -> !ttg.memdesc<1x32x16xf16, #shared, #smem, mutable>
//     %b2 = ttg.local_alloc : () -> !ttg.memdesc<1x16x32xf16, #shared, #smem, mutable>
//     %a1 = ttg.memdesc_index %a2[%c0] : !ttg.memdesc<1x32x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
//     %b1 = ttg.memdesc_index %b2[%c0] : !ttg.memdesc<1x16x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
//     %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>)  : i32 {
//       %a = ttg.local_load %a1 : !ttg.memdesc<32x16xf16, #shared, #smem, mutable> -> tensor<32x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
//       rocdl.s.setprio 1
//       %x = tt.load %pa : tensor<32x16x!tt.ptr<f16>, #blocked>
//       rocdl.sched.barrier none
//       %b = ttg.local_load %b1 : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> tensor<16x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
//       rocdl.s.setprio 0
//       %y = tt.load %pb : tensor<16x32x!tt.ptr<f16>, #blocked1>
//       rocdl.sched.barrier non_mem_non_sideeffect
//       rocdl.s.setprio 1
//       %d = tt.dot %a, %b, %acc : tensor<32x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<16x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
//       rocdl.s.setprio 0
//       ttg.local_store %x, %a1 : tensor<32x16xf16, #blocked> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
//       ttg.local_store %y, %b1 : tensor<16x32xf16, #blocked1> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
//       scf.yield %d : tensor<32x32xf32, #mma>
//     }
//     tt.return %r : tensor<32x32xf32, #mma>
//   }
// }
