// RUN: allocate-warp-groups
// One producer warp. Three empty warps complete its warp group, so that it can give up registers.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90"} {
  tt.func public @k(%n: i32) {
    ttg.warp_specialize(%n) attributes {requestedRegisters = array<i32: 40>}
    default {
      ttg.warp_yield
    }
    partition0(%m: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
// OUTPUT
// module attributes {ttg.maxnreg = 168 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.total-num-warps" = 12 : i32} {
//   tt.func public @k(%n: i32) {
//     ttg.warp_specialize(%n) attributes {actualRegisters = array<i32: 232, 40, 40, 40>, requestedRegisters = array<i32: 40, 16, 16>, warpGroupStartIds = array<i32: 10, 8, 11>}
//     default {
//       ttg.warp_yield
//     }
//     partition0(%m: i32) num_warps(1) {
//       ttg.warp_return
//     }
//     partition1(%arg1: i32) num_warps(2) {
//       ttg.warp_return
//     }
//     partition2(%arg1: i32) num_warps(1) {
//       ttg.warp_return
//     } : (i32) -> ()
//     tt.return
//   }
// }
