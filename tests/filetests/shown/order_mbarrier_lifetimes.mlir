// RUN: order-mbarrier-lifetimes
// Copies of the other CTA signal the mbarrier: its initialization must be visible there, and it must live until then.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %true = arith.constant true
    %bar = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<2xi64, #shared, #smem, mutable>
    ttng.barrier_expect %bar, 64, %true : !ttg.memdesc<2xi64, #shared, #smem, mutable>
    ttng.inval_barrier %bar : !ttg.memdesc<2xi64, #shared, #smem, mutable>
    tt.return
  }
}
// OUTPUT
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @kernel() {
//     %true = arith.constant true
//     %bar = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
//     ttng.init_barrier %bar, 1 : !ttg.memdesc<2xi64, #shared, #smem, mutable>
//     ttng.fence_mbarrier_init_release_cluster
//     ttng.cluster_barrier
//     ttng.barrier_expect %bar, 64, %true : !ttg.memdesc<2xi64, #shared, #smem, mutable>
//     ttng.cluster_barrier
//     ttng.inval_barrier %bar : !ttg.memdesc<2xi64, #shared, #smem, mutable>
//     tt.return
//   }
// }
