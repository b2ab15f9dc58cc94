// RUN: optimize-cta-locality
// Each CTA loads the columns it needs, instead of exchanging rows with the other.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @columns(%p: !tt.ptr<f32>) -> tensor<32x128xf32, #columns> {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %column = tt.expand_dims %i {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x128xi32, #rows>
    %columns = tt.broadcast %column : tensor<1x128xi32, #rows> -> tensor<32x128xi32, #rows>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #rows>
    %at = tt.addptr %base, %columns : tensor<32x128x!tt.ptr<f32>, #rows>, tensor<32x128xi32, #rows>
    %x = tt.load %at : tensor<32x128x!tt.ptr<f32>, #rows>
    %y = ttg.convert_layout %x : tensor<32x128xf32, #rows> -> tensor<32x128xf32, #columns>
    tt.return %y : tensor<32x128xf32, #columns>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @columns(%p: !tt.ptr<f32>) -> tensor<32x128xf32, #blocked> {
//     %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
//     %column = tt.expand_dims %i {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
//     %columns = tt.broadcast %column : tensor<1x128xi32, #blocked> -> tensor<32x128xi32, #blocked>
//     %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked>
//     %at = tt.addptr %base, %columns : tensor<32x128x!tt.ptr<f32>, #blocked>, tensor<32x128xi32, #blocked>
//     %x = tt.load %at : tensor<32x128x!tt.ptr<f32>, #blocked>
//     tt.return %x : tensor<32x128xf32, #blocked>
//   }
// }
