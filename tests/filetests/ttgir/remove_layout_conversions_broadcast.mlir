// RUN: remove-layout-conversions
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#narrow = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The layout of the loaded matrix is chosen for the sum: the row is converted before it is broadcast.
  tt.func public @kernel(%x: tensor<4x128x!tt.ptr<f32>, #wide>, %b: tensor<128x!tt.ptr<f32>, #row>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #narrow}>> {
    %0 = tt.load %x : tensor<4x128x!tt.ptr<f32>, #wide>
    %1 = ttg.convert_layout %0 : tensor<4x128xf32, #wide> -> tensor<4x128xf32, #narrow>
    %2 = tt.load %b : tensor<128x!tt.ptr<f32>, #row>
    %3 = ttg.convert_layout %2 : tensor<128xf32, #row> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #narrow}>>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #narrow}>> -> tensor<1x128xf32, #narrow>
    %5 = tt.broadcast %4 : tensor<1x128xf32, #narrow> -> tensor<4x128xf32, #narrow>
    %6 = arith.addf %1, %5 : tensor<4x128xf32, #narrow>
    %7 = ttg.convert_layout %6 : tensor<4x128xf32, #narrow> -> tensor<4x128xf32, #wide>
    tt.store %x, %7 : tensor<4x128x!tt.ptr<f32>, #wide>
    %8 = "tt.reduce"(%6) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %9 = arith.addf %l, %r : f32
      tt.reduce.return %9 : f32
    }) : (tensor<4x128xf32, #narrow>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #narrow}>>
    tt.return %8 : tensor<4xf32, #ttg.slice<{dim = 1, parent = #narrow}>>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @kernel(%x: tensor<4x128x!tt.ptr<f32>, #blocked>, %b: tensor<128x!tt.ptr<f32>, #blocked1>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> {
//     %0 = tt.load %x : tensor<4x128x!tt.ptr<f32>, #blocked>
//     %1 = tt.load %b : tensor<128x!tt.ptr<f32>, #blocked1>
//     %2 = ttg.convert_layout %1 : tensor<128xf32, #blocked1> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
//     %3 = tt.expand_dims %2 {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xf32, #blocked>
//     %4 = tt.broadcast %3 : tensor<1x128xf32, #blocked> -> tensor<4x128xf32, #blocked>
//     %5 = arith.addf %0, %4 : tensor<4x128xf32, #blocked>
//     %6 = ttg.convert_layout %5 : tensor<4x128xf32, #blocked> -> tensor<4x128xf32, #blocked2>
//     tt.store %x, %5 : tensor<4x128x!tt.ptr<f32>, #blocked>
//     %7 = "tt.reduce"(%6) <{axis = 1 : i32}> ({
//     ^bb0(%l: f32, %r: f32):
//       %8 = arith.addf %l, %r : f32
//       tt.reduce.return %8 : f32
//     }) : (tensor<4x128xf32, #blocked2>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
//     tt.return %7 : tensor<4xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
//   }
// }
