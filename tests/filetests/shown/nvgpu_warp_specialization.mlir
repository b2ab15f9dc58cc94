// RUN: nvgpu-warp-specialization{num-stages=2}, canonicalize
// The producer warp copies the operands of the next dot; the four consumer warps compute. A dot is waited for in the
// next iteration, and its buffers are free then.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%a: !tt.tensordesc<64x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %m: i32, %n: i32, %k: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {
      %x = tt.descriptor_load %a[%m, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %x_buffer = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %n] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %y_buffer = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %next = ttng.warp_group_dot %x_buffer, %y_buffer, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    } {tt.warp_specialize}
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}
// OUTPUT
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {ttg.maxnreg = 80 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @product(%a: !tt.tensordesc<64x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %m: i32, %n: i32, %k: i32) -> tensor<64x64xf32, #mma> {
//     %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
//     %c0 = arith.constant 0 : i32
//     %c64 = arith.constant 64 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %0 = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
//     %1 = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
//     %2 = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #shared1, #smem, mutable>
//     %3 = ttg.memdesc_index %2[%c0] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.init_barrier %3, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %4 = ttg.memdesc_index %2[%c1_i32] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.init_barrier %4, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %5 = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #shared1, #smem, mutable>
//     %6 = ttg.memdesc_index %5[%c0] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.init_barrier %6, 4 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %7 = ttg.memdesc_index %5[%c1_i32] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.init_barrier %7, 4 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.fence_async_shared {bCluster = false}
//     ttg.barrier local
//     %sum = ttg.warp_specialize(%0, %1, %2, %5, %k, %a, %m, %b, %n) attributes {requestedRegisters = array<i32: 24>}
//     default {
//       %sum_0:3 = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero, %arg7 = %c0, %arg8 = %c0) -> (tensor<64x64xf32, #mma>, i32, i32)  : i32 {
//         %18 = arith.addi %arg7, %c1_i32 : i32
//         %19 = arith.cmpi eq, %arg7, %c1_i32 : i32
//         %20 = arith.select %19, %c0, %18 : i32
//         %21 = arith.extui %19 : i1 to i32
//         %22 = arith.xori %arg8, %21 : i32
//         %23 = ttg.memdesc_index %0[%arg7] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//         %24 = ttg.memdesc_index %1[%arg7] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//         %25 = ttg.memdesc_index %2[%arg7] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         ttng.wait_barrier %25, %arg8 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         %next = ttng.warp_group_dot %23, %24, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
//         %26 = ttng.warp_group_dot_wait %next {pendings = 1 : i32} : tensor<64x64xf32, #mma>
//         %27 = arith.cmpi ne, %i, %c0 : i32
//         %28 = arith.cmpi eq, %arg7, %c0 : i32
//         %29 = arith.subi %arg7, %c1_i32 : i32
//         %30 = arith.select %28, %c1_i32, %29 : i32
//         %31 = ttg.memdesc_index %5[%30] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         ttng.arrive_barrier %31, 4, %27 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         scf.yield %26, %20, %22 : tensor<64x64xf32, #mma>, i32, i32
//       }
//       %12 = ttng.warp_group_dot_wait %sum_0#0 {pendings = 0 : i32} : tensor<64x64xf32, #mma>
//       %13 = arith.cmpi sgt, %k, %c0 : i32
//       %14 = arith.cmpi eq, %sum_0#1, %c0 : i32
//       %15 = arith.subi %sum_0#1, %c1_i32 : i32
//       %16 = arith.select %14, %c1_i32, %15 : i32
//       %17 = ttg.memdesc_index %5[%16] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//       ttng.arrive_barrier %17, 4, %13 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//       ttg.warp_yield %12 : tensor<64x64xf32, #mma>
//     }
//     partition0(%arg5: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %arg6: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %arg7: !ttg.memdesc<2x1xi64, #shared1, #smem, mutable>, %arg8: !ttg.memdesc<2x1xi64, #shared1, #smem, mutable>, %k_0: i32, %a_1: !tt.tensordesc<64x64xf16, #shared>, %m_2: i32, %b_3: !tt.tensordesc<64x64xf16, #shared>, %n_4: i32) num_warps(1) {
//       %true = arith.constant true
//       %c0_5 = arith.constant 0 : i32
//       %c64_6 = arith.constant 64 : i32
//       %c1_i32_7 = arith.constant 1 : i32
//       %12:2 = scf.for %i = %c0_5 to %k_0 step %c64_6 iter_args(%arg15 = %c0_5, %arg16 = %c0_5) -> (i32, i32)  : i32 {
//         %13 = arith.addi %arg15, %c1_i32_7 : i32
//         %14 = arith.cmpi eq, %arg15, %c1_i32_7 : i32
//         %15 = arith.select %14, %c0_5, %13 : i32
//         %16 = arith.extui %14 : i1 to i32
//         %17 = arith.xori %arg16, %16 : i32
//         %18 = ttg.memdesc_index %arg7[%arg15] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         %19 = ttg.memdesc_index %arg8[%arg15] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         %20 = arith.xori %arg16, %c1_i32_7 : i32
//         ttng.wait_barrier %19, %20 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         ttng.barrier_expect %18, 16384, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         %21 = ttg.memdesc_index %arg5[%arg15] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//         ttng.async_tma_copy_global_to_local %a_1[%m_2, %i] %21, %18, %true : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//         %22 = ttg.memdesc_index %arg7[%arg15] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//         %23 = ttg.memdesc_index %arg6[%arg15] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//         ttng.async_tma_copy_global_to_local %b_3[%i, %n_4] %23, %22, %true : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//         scf.yield %15, %17 : i32, i32
//       }
//       ttg.warp_return
//     } : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x1xi64, #shared1, #smem, mutable>, !ttg.memdesc<2x1xi64, #shared1, #smem, mutable>, i32, !tt.tensordesc<64x64xf16, #shared>, i32, !tt.tensordesc<64x64xf16, #shared>, i32) -> tensor<64x64xf32, #mma>
//     %8 = ttg.memdesc_index %2[%c0] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.inval_barrier %8 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %9 = ttg.memdesc_index %2[%c1_i32] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.inval_barrier %9 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %10 = ttg.memdesc_index %5[%c0] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.inval_barrier %10 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %11 = ttg.memdesc_index %5[%c1_i32] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.inval_barrier %11 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     tt.return %sum : tensor<64x64xf32, #mma>
//   }
// }
