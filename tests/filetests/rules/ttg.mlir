// RUN: canonicalize
// Each function is named after the rule it is for.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [0, 1]}>
#spelt = #ttg.linear<{register = [[0, 1], [0, 2], [8, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
#pairs = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
#others = #ttg.linear<{register = [[0, 1], [32, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], block = []}>
#down = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @convert_to_itself(%x: tensor<64xi32, #a>) -> tensor<64xi32, #a> {
    %y = ttg.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #a>
    tt.return %y : tensor<64xi32, #a>
  }
  // Not from a dot to an operand of the next: passes on dots look for both.
  tt.func public @convert_twice(%x: tensor<64xi32, #a>, %m: tensor<16x16xf16, #rows>) -> (tensor<64xi32, #c>, tensor<16x16xf16, #left>) {
    %y = ttg.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
    %z = ttg.convert_layout %y : tensor<64xi32, #b> -> tensor<64xi32, #c>
    %n = ttg.convert_layout %m : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #mma>
    %o = ttg.convert_layout %n : tensor<16x16xf16, #mma> -> tensor<16x16xf16, #left>
    tt.return %z, %o : tensor<64xi32, #c>, tensor<16x16xf16, #left>
  }
  tt.func public @convert_of_replicated(%x: i32) -> (tensor<64xi32, #b>, tensor<64xi32, #b>, tensor<64xi32, #b>) {
    %s = tt.splat %x : i32 -> tensor<64xi32, #a>
    %c = arith.constant dense<7> : tensor<64xi32, #a>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #a>
    %0 = ttg.convert_layout %s : tensor<64xi32, #a> -> tensor<64xi32, #b>
    %1 = ttg.convert_layout %c : tensor<64xi32, #a> -> tensor<64xi32, #b>
    %2 = ttg.convert_layout %r : tensor<64xi32, #a> -> tensor<64xi32, #b>
    tt.return %0, %1, %2 : tensor<64xi32, #b>, tensor<64xi32, #b>, tensor<64xi32, #b>
  }
  tt.func public @convert_of_histogram(%x: tensor<64xi32, #a>) -> tensor<32xi32, #b> {
    %h = tt.histogram %x : tensor<64xi32, #a> -> tensor<32xi32, #a>
    %y = ttg.convert_layout %h : tensor<32xi32, #a> -> tensor<32xi32, #b>
    tt.return %y : tensor<32xi32, #b>
  }
  // The store after the load must not move before it.
  tt.func public @convert_of_local_load(%x: tensor<64xi32, #a>, %z: tensor<64xi32, #a>) -> tensor<64xi32, #b> {
    %m = ttg.local_alloc %x : (tensor<64xi32, #a>) -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
    %l = ttg.local_load %m : !ttg.memdesc<64xi32, #shared, #smem, mutable> -> tensor<64xi32, #a>
    ttg.local_store %z, %m : tensor<64xi32, #a> -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
    %y = ttg.convert_layout %l : tensor<64xi32, #a> -> tensor<64xi32, #b>
    tt.return %y : tensor<64xi32, #b>
  }
  // With four elements per thread of the second result, elements of both parts would have to move.
  tt.func public @convert_of_cat(%x: tensor<32xi32, #a>, %z: tensor<32xi32, #a>) -> tensor<64xi32, #b> {
    %h = tt.cat %x, %z : tensor<32xi32, #a> -> tensor<64xi32, #a>
    %y = ttg.convert_layout %h : tensor<64xi32, #a> -> tensor<64xi32, #b>
    tt.return %y : tensor<64xi32, #b>
  }
  tt.func public @convert_of_free_reshape(%x: tensor<16x16xi32, #rows>) -> tensor<256xi32, #c> {
    %h = tt.reshape %x allow_reorder : tensor<16x16xi32, #rows> -> tensor<256xi32, #a>
    %y = ttg.convert_layout %h : tensor<256xi32, #a> -> tensor<256xi32, #c>
    tt.return %y : tensor<256xi32, #c>
  }
  tt.func public @reshape_of_convert(%x: tensor<16x16xi32, #rows>) -> (tensor<256xi32, #a>, tensor<256xi32, #c>) {
    %h = ttg.convert_layout %x : tensor<16x16xi32, #rows> -> tensor<16x16xi32, #columns>
    %0 = tt.reshape %h allow_reorder : tensor<16x16xi32, #columns> -> tensor<256xi32, #a>
    %i = ttg.convert_layout %x : tensor<16x16xi32, #rows> -> tensor<16x16xi32, #spelt>
    %1 = tt.reshape %i : tensor<16x16xi32, #spelt> -> tensor<256xi32, #c>
    tt.return %0, %1 : tensor<256xi32, #a>, tensor<256xi32, #c>
  }
  tt.func public @trans_of_convert(%x: tensor<16x16xi32, #rows>) -> tensor<16x16xi32, #columns> {
    %h = ttg.convert_layout %x : tensor<16x16xi32, #rows> -> tensor<16x16xi32, #spelt>
    %y = tt.trans %h {order = array<i32: 1, 0>} : tensor<16x16xi32, #spelt> -> tensor<16x16xi32, #columns>
    tt.return %y : tensor<16x16xi32, #columns>
  }
  // Both layouts have row i of the only column in lane i of the only warp.
  tt.func public @broadcast_of_convert(%x: tensor<32x1xi32, #down>) -> tensor<32x4xi32, #pairs> {
    %h = ttg.convert_layout %x : tensor<32x1xi32, #down> -> tensor<32x1xi32, #pairs>
    %y = tt.broadcast %h : tensor<32x1xi32, #pairs> -> tensor<32x4xi32, #pairs>
    tt.return %y : tensor<32x4xi32, #pairs>
  }
  tt.func public @trans_in_place(%x: tensor<16x16xi32, #rows>) -> tensor<16x16xi32, #spelt> {
    %y = tt.trans %x {order = array<i32: 0, 1>} : tensor<16x16xi32, #rows> -> tensor<16x16xi32, #spelt>
    tt.return %y : tensor<16x16xi32, #spelt>
  }
  tt.func public @histogram_of_convert(%x: tensor<64xi32, #a>, %m: tensor<64xi1, #b>) -> tensor<32xi32, #b> {
    %h = ttg.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
    %y = tt.histogram %h, %m : tensor<64xi32, #b> -> tensor<32xi32, #b>
    tt.return %y : tensor<32xi32, #b>
  }
  tt.func public @gather_of_convert(%x: tensor<64xi32, #a>) -> (tensor<64xi32, #c>, tensor<64xi32, #c>) {
    %c2 = arith.constant dense<2> : tensor<64xi32, #c>
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #c>
    %at = arith.divsi %i, %c2 : tensor<64xi32, #c>
    %h = ttg.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
    %y = tt.gather %h[%at] {axis = 0 : i32} : (tensor<64xi32, #b>, tensor<64xi32, #c>) -> tensor<64xi32, #c>
    %z = tt.gather %h[%at] {axis = 0 : i32, efficient_layout} : (tensor<64xi32, #b>, tensor<64xi32, #c>) -> tensor<64xi32, #c>
    tt.return %y, %z : tensor<64xi32, #c>, tensor<64xi32, #c>
  }
  tt.func public @split_of_convert(%x: tensor<64x2xi32, #others>) -> tensor<64xi32, #a> {
    %h = ttg.convert_layout %x : tensor<64x2xi32, #others> -> tensor<64x2xi32, #pairs>
    %y, %z = tt.split %h : tensor<64x2xi32, #pairs> -> tensor<64xi32, #ttg.linear<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [], block = []}>>
    %s = arith.addi %y, %z : tensor<64xi32, #ttg.linear<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [], block = []}>>
    %r = ttg.convert_layout %s : tensor<64xi32, #ttg.linear<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [], block = []}>> -> tensor<64xi32, #a>
    tt.return %r : tensor<64xi32, #a>
  }
  tt.func public @store_of_convert(%x: tensor<64xi32, #a>) -> (tensor<64xi32, #a>, tensor<64xi32, #a>) {
    %h = ttg.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
    %m = ttg.local_alloc %h : (tensor<64xi32, #b>) -> !ttg.memdesc<64xi32, #shared, #smem>
    %n = ttg.local_alloc : () -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
    ttg.local_store %h, %n : tensor<64xi32, #b> -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
    %y = ttg.local_load %m : !ttg.memdesc<64xi32, #shared, #smem> -> tensor<64xi32, #a>
    %z = ttg.local_load %n : !ttg.memdesc<64xi32, #shared, #smem, mutable> -> tensor<64xi32, #a>
    tt.return %y, %z : tensor<64xi32, #a>, tensor<64xi32, #a>
  }
  // A buffer that may be written in between is not the one that was read.
  tt.func public @alloc_of_load(%x: tensor<64xi32, #a>) -> (tensor<64xi32, #a>, tensor<64xi32, #a>) {
    %m = ttg.local_alloc %x : (tensor<64xi32, #a>) -> !ttg.memdesc<64xi32, #shared, #smem>
    %l = ttg.local_load %m : !ttg.memdesc<64xi32, #shared, #smem> -> tensor<64xi32, #a>
    %n = ttg.local_alloc %l : (tensor<64xi32, #a>) -> !ttg.memdesc<64xi32, #shared, #smem>
    %y = ttg.local_load %n : !ttg.memdesc<64xi32, #shared, #smem> -> tensor<64xi32, #a>
    %o = ttg.local_alloc %y : (tensor<64xi32, #a>) -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
    %z = ttg.local_load %o : !ttg.memdesc<64xi32, #shared, #smem, mutable> -> tensor<64xi32, #a>
    tt.return %y, %z : tensor<64xi32, #a>, tensor<64xi32, #a>
  }
  tt.func public @part_of_part(%x: tensor<64xi32, #a>) -> tensor<16xi32, #a> {
    %m = ttg.local_alloc %x : (tensor<64xi32, #a>) -> !ttg.memdesc<64xi32, #shared, #smem>
    %p = ttg.memdesc_subslice %m[32] : !ttg.memdesc<64xi32, #shared, #smem> -> !ttg.memdesc<32xi32, #shared, #smem, 64>
    %q = ttg.memdesc_subslice %p[16] : !ttg.memdesc<32xi32, #shared, #smem, 64> -> !ttg.memdesc<16xi32, #shared, #smem, 64>
    %y = ttg.local_load %q : !ttg.memdesc<16xi32, #shared, #smem, 64> -> tensor<16xi32, #a>
    tt.return %y : tensor<16xi32, #a>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// #blocked3 = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// #blocked4 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [0, 1]}>
// #blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [0, 1]}>
// #blocked6 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
// #linear = #ttg.linear<{register = [[0, 1], [0, 2], [8, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
// #linear1 = #ttg.linear<{register = [[0, 1], [32, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], block = []}>
// #linear2 = #ttg.linear<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [], block = []}>
// #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @convert_to_itself(%x: tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked> {
//     tt.return %x : tensor<64xi32, #blocked>
//   }
//   tt.func public @convert_twice(%x: tensor<64xi32, #blocked>, %m: tensor<16x16xf16, #blocked1>) -> (tensor<64xi32, #blocked2>, tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>) {
//     %z = ttg.convert_layout %x : tensor<64xi32, #blocked> -> tensor<64xi32, #blocked2>
//     %n = ttg.convert_layout %m : tensor<16x16xf16, #blocked1> -> tensor<16x16xf16, #mma>
//     %o = ttg.convert_layout %n : tensor<16x16xf16, #mma> -> tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//     tt.return %z, %o : tensor<64xi32, #blocked2>, tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//   }
//   tt.func public @convert_of_replicated(%x: i32) -> (tensor<64xi32, #blocked3>, tensor<64xi32, #blocked3>, tensor<64xi32, #blocked3>) {
//     %cst = arith.constant dense<7> : tensor<64xi32, #blocked3>
//     %0 = tt.splat %x : i32 -> tensor<64xi32, #blocked3>
//     %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked3>
//     tt.return %0, %cst, %1 : tensor<64xi32, #blocked3>, tensor<64xi32, #blocked3>, tensor<64xi32, #blocked3>
//   }
//   tt.func public @convert_of_histogram(%x: tensor<64xi32, #blocked>) -> tensor<32xi32, #blocked3> {
//     %y = tt.histogram %x : tensor<64xi32, #blocked> -> tensor<32xi32, #blocked3>
//     tt.return %y : tensor<32xi32, #blocked3>
//   }
//   tt.func public @convert_of_local_load(%x: tensor<64xi32, #blocked>, %z: tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked3> {
//     %m = ttg.local_alloc %x : (tensor<64xi32, #blocked>) -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
//     %y = ttg.local_load %m : !ttg.memdesc<64xi32, #shared, #smem, mutable> -> tensor<64xi32, #blocked3>
//     ttg.local_store %z, %m : tensor<64xi32, #blocked> -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
//     tt.return %y : tensor<64xi32, #blocked3>
//   }
//   tt.func public @convert_of_cat(%x: tensor<32xi32, #blocked>, %z: tensor<32xi32, #blocked>) -> tensor<64xi32, #blocked3> {
//     %y = tt.cat %x, %z : tensor<32xi32, #blocked> -> tensor<64xi32, #blocked3>
//     tt.return %y : tensor<64xi32, #blocked3>
//   }
//   tt.func public @convert_of_free_reshape(%x: tensor<16x16xi32, #blocked1>) -> tensor<256xi32, #blocked2> {
//     %y = tt.reshape %x allow_reorder : tensor<16x16xi32, #blocked1> -> tensor<256xi32, #blocked2>
//     tt.return %y : tensor<256xi32, #blocked2>
//   }
//   tt.func public @reshape_of_convert(%x: tensor<16x16xi32, #blocked1>) -> (tensor<256xi32, #blocked>, tensor<256xi32, #blocked2>) {
//     %0 = tt.reshape %x allow_reorder : tensor<16x16xi32, #blocked1> -> tensor<256xi32, #blocked>
//     %1 = tt.reshape %x : tensor<16x16xi32, #blocked1> -> tensor<256xi32, #blocked2>
//     tt.return %0, %1 : tensor<256xi32, #blocked>, tensor<256xi32, #blocked2>
//   }
//   tt.func public @trans_of_convert(%x: tensor<16x16xi32, #blocked1>) -> tensor<16x16xi32, #blocked4> {
//     %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x16xi32, #blocked1> -> tensor<16x16xi32, #blocked4>
//     tt.return %y : tensor<16x16xi32, #blocked4>
//   }
//   tt.func public @broadcast_of_convert(%x: tensor<32x1xi32, #blocked5>) -> tensor<32x4xi32, #blocked6> {
//     %y = tt.broadcast %x : tensor<32x1xi32, #blocked5> -> tensor<32x4xi32, #blocked6>
//     tt.return %y : tensor<32x4xi32, #blocked6>
//   }
//   tt.func public @trans_in_place(%x: tensor<16x16xi32, #blocked1>) -> tensor<16x16xi32, #linear> {
//     %y = ttg.convert_layout %x : tensor<16x16xi32, #blocked1> -> tensor<16x16xi32, #linear>
//     tt.return %y : tensor<16x16xi32, #linear>
//   }
//   tt.func public @histogram_of_convert(%x: tensor<64xi32, #blocked>, %m: tensor<64xi1, #blocked3>) -> tensor<32xi32, #blocked3> {
//     %0 = ttg.convert_layout %m : tensor<64xi1, #blocked3> -> tensor<64xi1, #blocked>
//     %y = tt.histogram %x, %0 : tensor<64xi32, #blocked> -> tensor<32xi32, #blocked3>
//     tt.return %y : tensor<32xi32, #blocked3>
//   }
//   tt.func public @gather_of_convert(%x: tensor<64xi32, #blocked>) -> (tensor<64xi32, #blocked2>, tensor<64xi32, #blocked2>) {
//     %c2 = arith.constant dense<2> : tensor<64xi32, #blocked2>
//     %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked2>
//     %at = arith.divsi %i, %c2 : tensor<64xi32, #blocked2>
//     %h = ttg.convert_layout %x : tensor<64xi32, #blocked> -> tensor<64xi32, #blocked3>
//     %y = tt.gather %x[%at] {axis = 0 : i32} : (tensor<64xi32, #blocked>, tensor<64xi32, #blocked2>) -> tensor<64xi32, #blocked2>
//     %z = tt.gather %h[%at] {axis = 0 : i32, efficient_layout} : (tensor<64xi32, #blocked3>, tensor<64xi32, #blocked2>) -> tensor<64xi32, #blocked2>
//     tt.return %y, %z : tensor<64xi32, #blocked2>, tensor<64xi32, #blocked2>
//   }
//   tt.func public @split_of_convert(%x: tensor<64x2xi32, #linear1>) -> tensor<64xi32, #blocked> {
//     %y, %z = tt.split %x : tensor<64x2xi32, #linear1> -> tensor<64xi32, #linear2>
//     %s = arith.addi %y, %z : tensor<64xi32, #linear2>
//     %r = ttg.convert_layout %s : tensor<64xi32, #linear2> -> tensor<64xi32, #blocked>
//     tt.return %r : tensor<64xi32, #blocked>
//   }
//   tt.func public @store_of_convert(%x: tensor<64xi32, #blocked>) -> (tensor<64xi32, #blocked>, tensor<64xi32, #blocked>) {
//     %m = ttg.local_alloc %x : (tensor<64xi32, #blocked>) -> !ttg.memdesc<64xi32, #shared, #smem>
//     %n = ttg.local_alloc : () -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
//     ttg.local_store %x, %n : tensor<64xi32, #blocked> -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
//     %y = ttg.local_load %m : !ttg.memdesc<64xi32, #shared, #smem> -> tensor<64xi32, #blocked>
//     %z = ttg.local_load %n : !ttg.memdesc<64xi32, #shared, #smem, mutable> -> tensor<64xi32, #blocked>
//     tt.return %y, %z : tensor<64xi32, #blocked>, tensor<64xi32, #blocked>
//   }
//   tt.func public @alloc_of_load(%x: tensor<64xi32, #blocked>) -> (tensor<64xi32, #blocked>, tensor<64xi32, #blocked>) {
//     %m = ttg.local_alloc %x : (tensor<64xi32, #blocked>) -> !ttg.memdesc<64xi32, #shared, #smem>
//     %y = ttg.local_load %m : !ttg.memdesc<64xi32, #shared, #smem> -> tensor<64xi32, #blocked>
//     %o = ttg.local_alloc %y : (tensor<64xi32, #blocked>) -> !ttg.memdesc<64xi32, #shared, #smem, mutable>
//     %z = ttg.local_load %o : !ttg.memdesc<64xi32, #shared, #smem, mutable> -> tensor<64xi32, #blocked>
//     tt.return %y, %z : tensor<64xi32, #blocked>, tensor<64xi32, #blocked>
//   }
//   tt.func public @part_of_part(%x: tensor<64xi32, #blocked>) -> tensor<16xi32, #blocked> {
//     %m = ttg.local_alloc %x : (tensor<64xi32, #blocked>) -> !ttg.memdesc<64xi32, #shared, #smem>
//     %q = ttg.memdesc_subslice %m[48] : !ttg.memdesc<64xi32, #shared, #smem> -> !ttg.memdesc<16xi32, #shared, #smem, 64>
//     %y = ttg.local_load %q : !ttg.memdesc<16xi32, #shared, #smem, 64> -> tensor<16xi32, #blocked>
//     tt.return %y : tensor<16xi32, #blocked>
//   }
// }
