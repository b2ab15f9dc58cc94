// RUN: assign-cga-layouts, remove-layout-conversions
// Each of two CTAs had half of each row; now it has whole rows, and only the result is exchanged.
#halves = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#sums = #ttg.slice<{dim = 1, parent = #halves}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sums(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #halves}>>
    %column = tt.expand_dims %i {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #halves}>> -> tensor<1x128xi32, #halves>
    %columns = tt.broadcast %column : tensor<1x128xi32, #halves> -> tensor<32x128xi32, #halves>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #halves>
    %at = tt.addptr %base, %columns : tensor<32x128x!tt.ptr<f32>, #halves>, tensor<32x128xi32, #halves>
    %x = tt.load %at : tensor<32x128x!tt.ptr<f32>, #halves>
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<32x128xf32, #halves>) -> tensor<32xf32, #sums>
    %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #sums>
    %to = tt.splat %q : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #sums>
    %there = tt.addptr %to, %r : tensor<32x!tt.ptr<f32>, #sums>, tensor<32xi32, #sums>
    tt.store %there, %s : tensor<32x!tt.ptr<f32>, #sums>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @sums(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
//     %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
//     %column = tt.expand_dims %i {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
//     %columns = tt.broadcast %column : tensor<1x128xi32, #blocked> -> tensor<32x128xi32, #blocked>
//     %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked>
//     %at = tt.addptr %base, %columns : tensor<32x128x!tt.ptr<f32>, #blocked>, tensor<32x128xi32, #blocked>
//     %x = tt.load %at : tensor<32x128x!tt.ptr<f32>, #blocked>
//     %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
//     ^bb0(%a: f32, %b: f32):
//       %c = arith.addf %a, %b : f32
//       tt.reduce.return %c : f32
//     }) : (tensor<32x128xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #blocked1>
//     %to = tt.splat %q : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #blocked1>
//     %there = tt.addptr %to, %r : tensor<32x!tt.ptr<f32>, #blocked1>, tensor<32xi32, #blocked1>
//     %0 = ttg.convert_layout %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<32xf32, #blocked1>
//     tt.store %there, %0 : tensor<32x!tt.ptr<f32>, #blocked1>
//     tt.return
//   }
// }
