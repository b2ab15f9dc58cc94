// RUN: convert-triton-to-tritongpu, coalesce, cse
// Columns are contiguous, so threads go along them; stores have no more elements per thread than their address allows.
tt.func public @columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = tt.splat %n : i32 -> tensor<1x64xi32>
  %far = arith.muli %column, %stride : tensor<1x64xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %far : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %rows, %columns : tensor<64x64xi32>
  %from = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %at = tt.addptr %from, %offset : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %at : tensor<64x64x!tt.ptr<f32>>
  %to = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %there = tt.addptr %to, %offset : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %there, %x : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
// Integer atomics update one element at a time; a scalar access has no layout.
tt.func public @counts(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %x: i32) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %base = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %at = tt.addptr %base, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %one = tt.splat %x : i32 -> tensor<512xi32>
  %old = tt.atomic_rmw add, acq_rel, gpu, %at, %one : (tensor<512x!tt.ptr<i32>>, tensor<512xi32>) -> tensor<512xi32>
  tt.store %p, %x : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
// #blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
// #blocked5 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
// #blocked6 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}) {
//     %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
//     %0 = ttg.convert_layout %i : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
//     %row = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
//     %1 = ttg.convert_layout %row : tensor<64x1xi32, #blocked1> -> tensor<64x1xi32, #blocked2>
//     %2 = ttg.convert_layout %i : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
//     %column = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x64xi32, #blocked3>
//     %3 = ttg.convert_layout %column : tensor<1x64xi32, #blocked3> -> tensor<1x64xi32, #blocked4>
//     %stride = tt.splat %n : i32 -> tensor<1x64xi32, #blocked4>
//     %far = arith.muli %3, %stride : tensor<1x64xi32, #blocked4>
//     %rows = tt.broadcast %1 : tensor<64x1xi32, #blocked2> -> tensor<64x64xi32, #blocked2>
//     %4 = ttg.convert_layout %rows : tensor<64x64xi32, #blocked2> -> tensor<64x64xi32, #blocked4>
//     %columns = tt.broadcast %far : tensor<1x64xi32, #blocked4> -> tensor<64x64xi32, #blocked4>
//     %offset = arith.addi %4, %columns : tensor<64x64xi32, #blocked4>
//     %from = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked4>
//     %at = tt.addptr %from, %offset : tensor<64x64x!tt.ptr<f32>, #blocked4>, tensor<64x64xi32, #blocked4>
//     %5 = ttg.convert_layout %at : tensor<64x64x!tt.ptr<f32>, #blocked4> -> tensor<64x64x!tt.ptr<f32>, #blocked5>
//     %x = tt.load %5 : tensor<64x64x!tt.ptr<f32>, #blocked5>
//     %x_0 = ttg.convert_layout %x : tensor<64x64xf32, #blocked5> -> tensor<64x64xf32, #blocked4>
//     %to = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked4>
//     %there = tt.addptr %to, %offset : tensor<64x64x!tt.ptr<f32>, #blocked4>, tensor<64x64xi32, #blocked4>
//     %6 = ttg.convert_layout %there : tensor<64x64x!tt.ptr<f32>, #blocked4> -> tensor<64x64x!tt.ptr<f32>, #blocked6>
//     %7 = ttg.convert_layout %x_0 : tensor<64x64xf32, #blocked4> -> tensor<64x64xf32, #blocked6>
//     tt.store %6, %7 : tensor<64x64x!tt.ptr<f32>, #blocked6>
//     tt.return
//   }
//   tt.func public @counts(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %x: i32) {
//     %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
//     %base = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #blocked>
//     %at = tt.addptr %base, %i : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
//     %one = tt.splat %x : i32 -> tensor<512xi32, #blocked>
//     %old = tt.atomic_rmw add, acq_rel, gpu, %at, %one : (tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>) -> tensor<512xi32, #blocked>
//     tt.store %p, %x : !tt.ptr<i32>
//     tt.return
//   }
// }
