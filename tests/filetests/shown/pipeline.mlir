// RUN: pipeline, canonicalize
// Copies into two buffers, two iterations ahead of the dot that reads them.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot_b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%n: i32, %pa: tensor<64x32x!tt.ptr<f16>, #blocked> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<32x64xf16, #dot_b>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cst = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %pa) -> (tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #blocked>) : i32 {
      %a = tt.load %p {loop.cluster = 3 : i32, loop.stage = 0 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %x = ttg.convert_layout %a {loop.cluster = 0 : i32, loop.stage = 2 : i32} : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #dot_a>
      %r = tt.dot %x, %b, %acc {loop.cluster = 0 : i32, loop.stage = 2 : i32} : tensor<64x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %p, %cst {loop.cluster = 2 : i32, loop.stage = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %r, %next : tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #blocked>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @product(%n: i32, %pa: tensor<64x32x!tt.ptr<f16>, #blocked> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %cst = arith.constant dense<32> : tensor<64x32xi32, #blocked>
//     %c-1_i32 = arith.constant -1 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %0 = ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable>
//     %1 = arith.cmpi sgt, %n, %c0 : i32
//     %2 = ttg.memdesc_index %0[%c0] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
//     %3 = tt.splat %1 : i1 -> tensor<64x32xi1, #blocked>
//     %4 = ttg.async_copy_global_to_local %pa, %2 mask %3 {contiguity = 8 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #shared, #smem, mutable>
//     %5 = ttg.async_commit_group tokens %4
//     %6 = arith.cmpi sgt, %n, %c1 : i32
//     %next = tt.addptr %pa, %cst : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
//     %7 = ttg.memdesc_index %0[%c1] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
//     %8 = tt.splat %6 : i1 -> tensor<64x32xi1, #blocked>
//     %9 = ttg.async_copy_global_to_local %next, %7 mask %8 {contiguity = 8 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #shared, #smem, mutable>
//     %10 = ttg.async_commit_group tokens %9
//     %d:6 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %next, %arg7 = %c1, %arg8 = %c-1_i32, %arg9 = %5, %arg10 = %10) -> (tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #blocked>, i32, i32, !ttg.async.token, !ttg.async.token)  : i32 {
//       %12 = arith.subi %n, %c2_i32 : i32
//       %13 = arith.cmpi slt, %i, %12 : i32
//       %14 = arith.addi %arg8, %c1 : i32
//       %15 = arith.cmpi sge, %14, %c2_i32 : i32
//       %16 = arith.select %15, %c0, %14 : i32
//       %17 = ttg.async_wait %arg9 {num = 1 : i32}
//       %18 = ttg.memdesc_index %0[%16] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
//       %x = ttg.local_load %18 token %17 : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//       %r = tt.dot %x, %b, %acc : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
//       %next_0 = tt.addptr %p, %cst : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
//       %19 = arith.addi %arg7, %c1 : i32
//       %20 = arith.cmpi sge, %19, %c2_i32 : i32
//       %21 = arith.select %20, %c0, %19 : i32
//       %22 = ttg.memdesc_index %0[%21] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
//       %23 = tt.splat %13 : i1 -> tensor<64x32xi1, #blocked>
//       %24 = ttg.async_copy_global_to_local %next_0, %22 mask %23 {contiguity = 8 : i32, ttg.predicated} : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #shared, #smem, mutable>
//       %25 = ttg.async_commit_group tokens %24
//       scf.yield %r, %next_0, %21, %16, %arg10, %25 : tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #blocked>, i32, i32, !ttg.async.token, !ttg.async.token
//     }
//     %11 = ttg.async_wait {num = 0 : i32}
//     ttg.local_dealloc %0 : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable>
//     tt.return %d#0 : tensor<64x64xf32, #mma>
//   }
// }
