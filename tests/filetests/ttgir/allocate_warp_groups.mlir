// RUN: allocate-warp-groups
// CHECK: module attributes {ttg.maxnreg = 72 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.total-num-warps" = 28 : i32}
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90"} {
  // The largest first, whole groups; all operations get as many warps as the largest.
  // CHECK-LABEL: @groups
  tt.func public @groups() {
    // Nothing is requested: all keep what they have.
    // CHECK: ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 20, 8, 16, 22, 24, 26>}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(2) {
      ttg.warp_return
    }
    partition1() num_warps(8) {
      ttg.warp_return
    }
    partition2() num_warps(4) {
      ttg.warp_return
    }
    // CHECK: partition3() num_warps(2)
    partition3() num_warps(2) {
      ttg.warp_return
    }
    partition4() num_warps(2) {
      ttg.warp_return
    } : () -> ()
    // CHECK: partition5() num_warps(2)
    // CHECK: ttg.warp_specialize() attributes {actualRegisters = array<i32: 128, 72, 56, 56, 24, 56>, requestedRegisters = array<i32: 70, 55, 30, 16, 16>, warpGroupStartIds = array<i32: 8, 24, 26, 16, 27>}
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 70, 55, 30>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(8) {
      ttg.warp_return
    }
    partition1() num_warps(2) {
      ttg.warp_return
    }
    partition2() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
