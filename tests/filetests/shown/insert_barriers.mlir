// RUN: allocate-shared-memory, insert-barriers
// In the loop, threads load what others store, and the next iteration stores again: RAW and WAR. The wait for the copy
// is followed by a barrier, so that the copies of all threads are visible to all.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @sum(%p: tensor<32x32x!tt.ptr<f32>, #rows>, %x: tensor<32x32xf32, #rows>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %b : tensor<32x32x!tt.ptr<f32>, #rows> -> <32x32xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    %s = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<32x32xf32, #rows>) : i32 {
      %y = ttg.local_load %b : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
      %r = arith.addf %a, %y : tensor<32x32xf32, #rows>
      ttg.local_store %r, %b : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      scf.yield %r : tensor<32x32xf32, #rows>
    }
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 4096 : i32, ttg.target = "cuda:90"} {
//   tt.func public @sum(%p: tensor<32x32x!tt.ptr<f32>, #blocked>, %x: tensor<32x32xf32, #blocked>, %n: i32) {
//     %zero = arith.constant 0 : i32
//     %one = arith.constant 1 : i32
//     %b = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
//     %t = ttg.async_copy_global_to_local %p, %b : tensor<32x32x!tt.ptr<f32>, #blocked> -> <32x32xf32, #shared, #smem, mutable>
//     %g = ttg.async_commit_group tokens %t
//     %w = ttg.async_wait %g {num = 0 : i32}
//     ttg.barrier local
//     %s = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<32x32xf32, #blocked>)  : i32 {
//       ttg.barrier local
//       %y = ttg.local_load %b : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #blocked>
//       %r = arith.addf %a, %y : tensor<32x32xf32, #blocked>
//       ttg.barrier local
//       ttg.local_store %r, %b : tensor<32x32xf32, #blocked> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
//       scf.yield %r : tensor<32x32xf32, #blocked>
//     }
//     tt.return
//   }
// }
