// RUN: amd-move-up-prologue-loads
// The load of the prologue is issued before the unrelated work, after the definition of its pointer.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @prologue(%a: !tt.ptr<f32>, %x: tensor<256xf32, #blocked>, %n: tensor<256xi32, #blocked>) -> tensor<256xf32, #blocked> {
    %at = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %as, %at : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %work = math.exp %x : tensor<256xf32, #blocked>
    %mask = arith.cmpi slt, %at, %n : tensor<256xi32, #blocked>
    %y = tt.load %p, %mask {amd.pipeliner_part = "prologue"} : tensor<256x!tt.ptr<f32>, #blocked>
    %r = arith.addf %work, %y : tensor<256xf32, #blocked>
    tt.return %r : tensor<256xf32, #blocked>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @prologue(%a: !tt.ptr<f32>, %x: tensor<256xf32, #blocked>, %n: tensor<256xi32, #blocked>) -> tensor<256xf32, #blocked> {
//     %at = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
//     %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
//     %p = tt.addptr %as, %at : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
//     %mask = arith.cmpi slt, %at, %n : tensor<256xi32, #blocked>
//     %y = tt.load %p, %mask {amd.pipeliner_part = "prologue"} : tensor<256x!tt.ptr<f32>, #blocked>
//     %work = math.exp %x : tensor<256xf32, #blocked>
//     %r = arith.addf %work, %y : tensor<256xf32, #blocked>
//     tt.return %r : tensor<256xf32, #blocked>
//   }
// }
