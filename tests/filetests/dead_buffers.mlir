// RUN: canonicalize
// What initializes a buffer is written to it alone: a buffer without users is dead, and what is stored there as well.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @dead
  tt.func public @dead(%p: tensor<64x!tt.ptr<i32>, #a>) {
    // CHECK-NOT: tt.load
    // CHECK-NOT: ttg.local_alloc
    // CHECK: tt.return
    %x = tt.load %p : tensor<64x!tt.ptr<i32>, #a>
    %m = ttg.local_alloc %x : (tensor<64xi32, #a>) -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
    %y = ttg.local_load %m : !ttg.memdesc<64xi32, #shared, #smem, mutable> -> tensor<64xi32, #a>
    tt.return
  }
  // CHECK-LABEL: @written
  tt.func public @written(%x: tensor<64xi32, #a>) {
    // CHECK: ttg.local_alloc
    // CHECK: ttg.local_store
    %m = ttg.local_alloc %x : (tensor<64xi32, #a>) -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
    ttg.local_store %x, %m : tensor<64xi32, #a> -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
    tt.return
  }
}
