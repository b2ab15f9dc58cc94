// RUN: amd-update-async-wait-count{gfx-arch=gfx1250}
// After the first wait the copy to %c may be pending: 2 instructions, each lane has two elements.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copy(%p: tensor<128x!tt.ptr<f32>, #blocked>, %q: tensor<256x!tt.ptr<f32>, #blocked>, %b: !ttg.memdesc<128xf32, #shared, #smem, mutable>, %c: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
    %0 = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #blocked> -> <128xf32, #shared, #smem, mutable>
    %1 = ttg.async_commit_group tokens %0
    %2 = ttg.async_copy_global_to_local %q, %c : tensor<256x!tt.ptr<f32>, #blocked> -> <256xf32, #shared, #smem, mutable>
    %3 = ttg.async_commit_group tokens %2
    %4 = ttg.async_wait %1 {num = 0 : i32}
    %5 = ttg.async_wait %3 {num = 0 : i32}
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @copy(%p: tensor<128x!tt.ptr<f32>, #blocked>, %q: tensor<256x!tt.ptr<f32>, #blocked>, %b: !ttg.memdesc<128xf32, #shared, #smem, mutable>, %c: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
//     %0 = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #blocked> -> <128xf32, #shared, #smem, mutable>
//     %1 = ttg.async_commit_group tokens %0
//     %2 = ttg.async_copy_global_to_local %q, %c : tensor<256x!tt.ptr<f32>, #blocked> -> <256xf32, #shared, #smem, mutable>
//     %3 = ttg.async_commit_group tokens %2
//     %4 = amdg.async_wait %1 {num_inst = 2 : i32, ttg.num_commit_groups = 0 : i32}
//     %5 = amdg.async_wait %3 {num_inst = 0 : i32, ttg.num_commit_groups = 0 : i32}
//     tt.return
//   }
// }
