// RUN: convert-triton-to-tritongpu
// Every tensor gets the default layout of its shape; the row before expand_dims gets a slice of the result's.
tt.func public @column() -> tensor<16x1xi32> {
  %row = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %column = tt.expand_dims %row {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  tt.return %column : tensor<16x1xi32>
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @column() -> tensor<16x1xi32, #blocked> {
//     %row = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #blocked1>
//     %0 = ttg.convert_layout %row : tensor<16xi32, #blocked1> -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
//     %column = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16x1xi32, #blocked2>
//     %1 = ttg.convert_layout %column : tensor<16x1xi32, #blocked2> -> tensor<16x1xi32, #blocked>
//     tt.return %1 : tensor<16x1xi32, #blocked>
//   }
// }
