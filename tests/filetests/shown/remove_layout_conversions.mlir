// RUN: convert-triton-to-tritongpu, coalesce, remove-layout-conversions
// Loads are coalesced along rows, and everything else is computed in the layout of the loads.
tt.func public @rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %column = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %line = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %row = arith.muli %line, %c64 : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %rows, %columns : tensor<64x64xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %at = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %at : tensor<64x64x!tt.ptr<f32>>
  %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64x64xf32>) -> tensor<64xf32>
  %to = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %there = tt.addptr %to, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %there, %sum : tensor<64x!tt.ptr<f32>>
  tt.return
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
//     %c64 = arith.constant dense<64> : tensor<64x1xi32, #blocked>
//     %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked1>
//     %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
//     %column = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
//     %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     %line = tt.expand_dims %1 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
//     %row = arith.muli %line, %c64 : tensor<64x1xi32, #blocked>
//     %rows = tt.broadcast %row : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
//     %columns = tt.broadcast %column : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
//     %offset = arith.addi %rows, %columns : tensor<64x64xi32, #blocked>
//     %base = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked>
//     %at = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xi32, #blocked>
//     %x = tt.load %at : tensor<64x64x!tt.ptr<f32>, #blocked>
//     %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
//     ^bb0(%a: f32, %b: f32):
//       %c = arith.addf %a, %b : f32
//       tt.reduce.return %c : f32
//     }) : (tensor<64x64xf32, #blocked>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     %2 = ttg.convert_layout %sum : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64xf32, #blocked1>
//     %to = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked1>
//     %there = tt.addptr %to, %i : tensor<64x!tt.ptr<f32>, #blocked1>, tensor<64xi32, #blocked1>
//     tt.store %there, %2 : tensor<64x!tt.ptr<f32>, #blocked1>
//     tt.return
//   }
// }
