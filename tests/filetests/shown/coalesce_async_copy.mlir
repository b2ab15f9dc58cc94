// RUN: coalesce-async-copy
// The buffer has 8 contiguous bytes, a thread of #blocked 16: without the pass, a warp reads every other 8 bytes.
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copy(%p: tensor<64x16x!tt.ptr<i8>, #blocked>, %b: !ttg.memdesc<64x16xi8, #shared, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %b : tensor<64x16x!tt.ptr<i8>, #blocked> -> <64x16xi8, #shared, #smem, mutable>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @copy(%p: tensor<64x16x!tt.ptr<i8>, #blocked>, %b: !ttg.memdesc<64x16xi8, #shared, #smem, mutable>) {
//     %0 = ttg.convert_layout %p : tensor<64x16x!tt.ptr<i8>, #blocked> -> tensor<64x16x!tt.ptr<i8>, #blocked1>
//     %t = ttg.async_copy_global_to_local %0, %b : tensor<64x16x!tt.ptr<i8>, #blocked1> -> <64x16xi8, #shared, #smem, mutable>
//     tt.return
//   }
// }
