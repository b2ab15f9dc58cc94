// RUN: store-mma-rows-per-warp
// A 64 x 128 dot by four warps: each owns 16 rows.
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @store(%d: tensor<64x128xf16, #mma>, %out: !tt.ptr<f16>, %n: i32) {
    %column = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x128xi32, #row>
    %offsets = tt.broadcast %columns : tensor<1x128xi32, #row> -> tensor<64x128xi32, #row>
    %base = tt.splat %out : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #row>
    %places = tt.addptr %base, %offsets : tensor<64x128x!tt.ptr<f16>, #row>, tensor<64x128xi32, #row>
    %limit = tt.splat %n : i32 -> tensor<64x128xi32, #row>
    %mask = arith.cmpi slt, %offsets, %limit : tensor<64x128xi32, #row>
    %c = ttg.convert_layout %d : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #row>
    tt.store %places, %c, %mask : tensor<64x128x!tt.ptr<f16>, #row>
    tt.return
  }
}
// OUTPUT
// #linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [2, 0], [4, 0], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[16, 0], [32, 0]], block = []}>
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @store(%d: tensor<64x128xf16, #mma>, %out: !tt.ptr<f16>, %n: i32) {
//     %column = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #linear}>>
//     %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #linear}>> -> tensor<1x128xi32, #linear>
//     %offsets = tt.broadcast %columns : tensor<1x128xi32, #linear> -> tensor<64x128xi32, #linear>
//     %base = tt.splat %out : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #linear>
//     %places = tt.addptr %base, %offsets : tensor<64x128x!tt.ptr<f16>, #linear>, tensor<64x128xi32, #linear>
//     %limit = tt.splat %n : i32 -> tensor<64x128xi32, #linear>
//     %mask = arith.cmpi slt, %offsets, %limit : tensor<64x128xi32, #linear>
//     %c = ttg.convert_layout %d : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #linear>
//     tt.store %places, %c, %mask : tensor<64x128x!tt.ptr<f16>, #linear>
//     tt.return
//   }
// }
