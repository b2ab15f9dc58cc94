// RUN: amd-fold-true-cmpi, canonicalize
// 16 programs of 64 elements each stay below 1024: the mask is true, and so is the assumption about %n.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @masked(%a: !tt.ptr<f32>, %n: i32, %other: tensor<64xf32, #blocked>) -> tensor<64xf32, #blocked> {
    %c16 = arith.constant 16 : i32
    %c64 = arith.constant 64 : i32
    %limit = arith.constant dense<1024> : tensor<64xi32, #blocked>
    %p = arith.remui %n, %c16 : i32
    %known = arith.cmpi ult, %p, %c64 : i32
    llvm.intr.assume %known : i1
    %start = arith.muli %p, %c64 : i32
    %starts = tt.splat %start : i32 -> tensor<64xi32, #blocked>
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %at = arith.addi %starts, %range : tensor<64xi32, #blocked>
    %mask = arith.cmpi slt, %at, %limit : tensor<64xi32, #blocked>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %as, %at : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>
    %x = tt.load %q, %mask, %other : tensor<64x!tt.ptr<f32>, #blocked>
    tt.return %x : tensor<64xf32, #blocked>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @masked(%a: !tt.ptr<f32>, %n: i32, %other: tensor<64xf32, #blocked>) -> tensor<64xf32, #blocked> {
//     %c16 = arith.constant 16 : i32
//     %c64 = arith.constant 64 : i32
//     %p = arith.remui %n, %c16 : i32
//     %start = arith.muli %p, %c64 : i32
//     %starts = tt.splat %start : i32 -> tensor<64xi32, #blocked>
//     %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
//     %at = arith.addi %starts, %range : tensor<64xi32, #blocked>
//     %as = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked>
//     %q = tt.addptr %as, %at : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>
//     %x = tt.load %q : tensor<64x!tt.ptr<f32>, #blocked>
//     tt.return %x : tensor<64xf32, #blocked>
//   }
// }
