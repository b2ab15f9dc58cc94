// RUN: amd-coalesce-async-copy{gfx-arch=gfx950}
// Nothing is known about the pointers: each lane copies one element at a time, so a lane has one, and not four in a row.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @copy(%p: tensor<1024x!tt.ptr<f32>, #blocked>, %b: !ttg.memdesc<1024xf32, #shared, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %b : tensor<1024x!tt.ptr<f32>, #blocked> -> <1024xf32, #shared, #smem, mutable>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @copy(%p: tensor<1024x!tt.ptr<f32>, #blocked>, %b: !ttg.memdesc<1024xf32, #shared, #smem, mutable>) {
//     %0 = ttg.convert_layout %p : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
//     %t = ttg.async_copy_global_to_local %0, %b : tensor<1024x!tt.ptr<f32>, #blocked1> -> <1024xf32, #shared, #smem, mutable>
//     tt.return
//   }
// }
