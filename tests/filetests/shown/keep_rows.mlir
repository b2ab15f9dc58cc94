// RUN: keep-rows
// The second loop adds the sum of a row to it: the first iterations of both share what they load.
#a = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @center(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<1024xf16, #a> {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %zeros = arith.constant dense<0.000000e+00> : tensor<1024xf16, #a>
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #a>
    %sum = scf.for %i = %c0 to %n step %c1024 iter_args(%s = %zeros) -> (tensor<1024xf16, #a>) : i32 {
      %start = tt.splat %i : i32 -> tensor<1024xi32, #a>
      %cols = arith.addi %start, %range : tensor<1024xi32, #a>
      %p = tt.addptr %xs, %cols : tensor<1024x!tt.ptr<f16>, #a>, tensor<1024xi32, #a>
      %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #a>
      %t = arith.addf %s, %v : tensor<1024xf16, #a>
      scf.yield %t : tensor<1024xf16, #a>
    }
    %squares = scf.for %i = %c0 to %n step %c1024 iter_args(%s = %zeros) -> (tensor<1024xf16, #a>) : i32 {
      %start = tt.splat %i : i32 -> tensor<1024xi32, #a>
      %cols = arith.addi %start, %range : tensor<1024xi32, #a>
      %p = tt.addptr %xs, %cols : tensor<1024x!tt.ptr<f16>, #a>, tensor<1024xi32, #a>
      %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #a>
      %w = arith.subf %v, %sum : tensor<1024xf16, #a>
      %t = arith.addf %s, %w : tensor<1024xf16, #a>
      scf.yield %t : tensor<1024xf16, #a>
    }
    tt.return %squares : tensor<1024xf16, #a>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @center(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<1024xf16, #blocked> {
//     %c0 = arith.constant 0 : i32
//     %c1024 = arith.constant 1024 : i32
//     %zeros = arith.constant dense<0.000000e+00> : tensor<1024xf16, #blocked>
//     %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
//     %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
//     %c6144_i32 = arith.constant 6144 : i32
//     %0 = arith.minsi %n, %c6144_i32 : i32
//     %1 = ttg.local_alloc : () -> !ttg.memdesc<6x1024xf16, #shared, #smem, mutable>
//     scf.for %arg2 = %c0 to %0 step %c1024  : i32 {
//       %start = tt.splat %arg2 : i32 -> tensor<1024xi32, #blocked>
//       %cols = arith.addi %start, %range : tensor<1024xi32, #blocked>
//       %p = tt.addptr %xs, %cols : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
//       %6 = arith.divui %arg2, %c1024 : i32
//       %7 = ttg.memdesc_index %1[%6] : !ttg.memdesc<6x1024xf16, #shared, #smem, mutable> -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
//       %8 = ttg.async_copy_global_to_local %p, %7 {contiguity = 8 : i32} : tensor<1024x!tt.ptr<f16>, #blocked> -> <1024xf16, #shared, #smem, mutable>
//     }
//     %2 = ttg.async_commit_group
//     %3 = ttg.async_wait %2 {num = 0 : i32}
//     %4 = scf.for %i = %c0 to %0 step %c1024 iter_args(%s = %zeros) -> (tensor<1024xf16, #blocked>)  : i32 {
//       %start = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
//       %cols = arith.addi %start, %range : tensor<1024xi32, #blocked>
//       %p = tt.addptr %xs, %cols : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
//       %6 = arith.divui %i, %c1024 : i32
//       %7 = ttg.memdesc_index %1[%6] : !ttg.memdesc<6x1024xf16, #shared, #smem, mutable> -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
//       %v = ttg.local_load %7 : !ttg.memdesc<1024xf16, #shared, #smem, mutable> -> tensor<1024xf16, #blocked>
//       %t = arith.addf %s, %v : tensor<1024xf16, #blocked>
//       scf.yield %t : tensor<1024xf16, #blocked>
//     }
//     %sum = scf.for %i = %c6144_i32 to %n step %c1024 iter_args(%s = %4) -> (tensor<1024xf16, #blocked>)  : i32 {
//       %start = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
//       %cols = arith.addi %start, %range : tensor<1024xi32, #blocked>
//       %p = tt.addptr %xs, %cols : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
//       %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>
//       %t = arith.addf %s, %v : tensor<1024xf16, #blocked>
//       scf.yield %t : tensor<1024xf16, #blocked>
//     } {tritium.after_kept_rows}
//     %5 = scf.for %i = %c0 to %0 step %c1024 iter_args(%s = %zeros) -> (tensor<1024xf16, #blocked>)  : i32 {
//       %start = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
//       %cols = arith.addi %start, %range : tensor<1024xi32, #blocked>
//       %p = tt.addptr %xs, %cols : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
//       %6 = arith.divui %i, %c1024 : i32
//       %7 = ttg.memdesc_index %1[%6] : !ttg.memdesc<6x1024xf16, #shared, #smem, mutable> -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
//       %v = ttg.local_load %7 : !ttg.memdesc<1024xf16, #shared, #smem, mutable> -> tensor<1024xf16, #blocked>
//       %w = arith.subf %v, %sum : tensor<1024xf16, #blocked>
//       %t = arith.addf %s, %w : tensor<1024xf16, #blocked>
//       scf.yield %t : tensor<1024xf16, #blocked>
//     }
//     %squares = scf.for %i = %c6144_i32 to %n step %c1024 iter_args(%s = %5) -> (tensor<1024xf16, #blocked>)  : i32 {
//       %start = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
//       %cols = arith.addi %start, %range : tensor<1024xi32, #blocked>
//       %p = tt.addptr %xs, %cols : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
//       %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>
//       %w = arith.subf %v, %sum : tensor<1024xf16, #blocked>
//       %t = arith.addf %s, %w : tensor<1024xf16, #blocked>
//       scf.yield %t : tensor<1024xf16, #blocked>
//     } {tritium.after_kept_rows}
//     ttg.local_dealloc %1 : !ttg.memdesc<6x1024xf16, #shared, #smem, mutable>
//     tt.return %squares : tensor<1024xf16, #blocked>
//   }
// }
