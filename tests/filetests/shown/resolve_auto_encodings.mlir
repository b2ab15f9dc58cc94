// RUN: resolve-auto-encodings
// The sum is set to a layout: so are the range and the number that it is computed from.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32) -> tensor<128xi32, #blocked> {
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #gluon.auto_encoding>
    %m = tt.splat %n : i32 -> tensor<128xi32, #gluon.auto_encoding>
    %sum = arith.addi %i, %m : tensor<128xi32, #gluon.auto_encoding>
    %set = gluon.set_auto_layout %sum : tensor<128xi32, #gluon.auto_encoding> -> tensor<128xi32, #blocked>
    tt.return %set : tensor<128xi32, #blocked>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @kernel(%n: i32) -> tensor<128xi32, #blocked> {
//     %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
//     %m = tt.splat %n : i32 -> tensor<128xi32, #blocked>
//     %sum = arith.addi %i, %m : tensor<128xi32, #blocked>
//     tt.return %sum : tensor<128xi32, #blocked>
//   }
// }
