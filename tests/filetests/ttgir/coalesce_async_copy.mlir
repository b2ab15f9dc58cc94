// RUN: coalesce-async-copy
#wide = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#narrow = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#swizzled = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Rule clip: addresses, mask and the values of masked elements get the layout of 8 contiguous elements.
  tt.func public @masked(%p: tensor<64x16x!tt.ptr<i8>, #wide>, %m: tensor<64x16xi1, #wide>, %other: tensor<64x16xi8, #wide>, %b: !ttg.memdesc<64x16xi8, #swizzled, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %b mask %m other %other : tensor<64x16x!tt.ptr<i8>, #wide> -> <64x16xi8, #swizzled, #smem, mutable>
    tt.return
  }
  // Rule cheap: 64 words for 128 threads; 16 threads had four of them each, now 64 threads have one.
  tt.func public @few_elements(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !ttg.memdesc<64xf32, #flat, #smem, mutable>) {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #line>
    %s = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #line>
    %p = tt.addptr %s, %i : tensor<64x!tt.ptr<f32>, #line>, tensor<64xi32, #line>
    %t = ttg.async_copy_global_to_local %p, %b : tensor<64x!tt.ptr<f32>, #line> -> <64xf32, #flat, #smem, mutable>
    tt.return
  }
  // Stays: a thread has as many contiguous elements as the buffer.
  tt.func public @as_wide_as_the_buffer(%p: tensor<64x16x!tt.ptr<i8>, #narrow>, %b: !ttg.memdesc<64x16xi8, #swizzled, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %b : tensor<64x16x!tt.ptr<i8>, #narrow> -> <64x16xi8, #swizzled, #smem, mutable>
    tt.return
  }
  // Stays: the buffer is not swizzled, so all four words of a thread are contiguous there.
  tt.func public @not_swizzled(%p: tensor<1024x!tt.ptr<f32>, #line>, %b: !ttg.memdesc<1024xf32, #flat, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %b : tensor<1024x!tt.ptr<f32>, #line> -> <1024xf32, #flat, #smem, mutable>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #blocked3 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @masked(%p: tensor<64x16x!tt.ptr<i8>, #blocked>, %m: tensor<64x16xi1, #blocked>, %other: tensor<64x16xi8, #blocked>, %b: !ttg.memdesc<64x16xi8, #shared, #smem, mutable>) {
//     %0 = ttg.convert_layout %p : tensor<64x16x!tt.ptr<i8>, #blocked> -> tensor<64x16x!tt.ptr<i8>, #blocked1>
//     %1 = ttg.convert_layout %m : tensor<64x16xi1, #blocked> -> tensor<64x16xi1, #blocked1>
//     %2 = ttg.convert_layout %other : tensor<64x16xi8, #blocked> -> tensor<64x16xi8, #blocked1>
//     %t = ttg.async_copy_global_to_local %0, %b mask %1 other %2 : tensor<64x16x!tt.ptr<i8>, #blocked1> -> <64x16xi8, #shared, #smem, mutable>
//     tt.return
//   }
//   tt.func public @few_elements(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !ttg.memdesc<64xf32, #shared1, #smem, mutable>) {
//     %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked2>
//     %s = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked2>
//     %p = tt.addptr %s, %i : tensor<64x!tt.ptr<f32>, #blocked2>, tensor<64xi32, #blocked2>
//     %0 = ttg.convert_layout %p : tensor<64x!tt.ptr<f32>, #blocked2> -> tensor<64x!tt.ptr<f32>, #blocked3>
//     %t = ttg.async_copy_global_to_local %0, %b : tensor<64x!tt.ptr<f32>, #blocked3> -> <64xf32, #shared1, #smem, mutable>
//     tt.return
//   }
//   tt.func public @as_wide_as_the_buffer(%p: tensor<64x16x!tt.ptr<i8>, #blocked1>, %b: !ttg.memdesc<64x16xi8, #shared, #smem, mutable>) {
//     %t = ttg.async_copy_global_to_local %p, %b : tensor<64x16x!tt.ptr<i8>, #blocked1> -> <64x16xi8, #shared, #smem, mutable>
//     tt.return
//   }
//   tt.func public @not_swizzled(%p: tensor<1024x!tt.ptr<f32>, #blocked2>, %b: !ttg.memdesc<1024xf32, #shared1, #smem, mutable>) {
//     %t = ttg.async_copy_global_to_local %p, %b : tensor<1024x!tt.ptr<f32>, #blocked2> -> <1024xf32, #shared1, #smem, mutable>
//     tt.return
//   }
// }
