// RUN: optimize-dot-operands
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#cubes = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 8, 4], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#narrow = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#straight = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What is loaded goes to memory as it is.
  // CHECK-LABEL: @buffer_of_transpose
  // CHECK: [[B:%[0-9a-z]+]] = ttg.local_alloc %y : {{.*}} -> !ttg.memdesc<64x32xf16, [[STRAIGHT:#shared[0-9]*]], #smem>
  // CHECK: [[T:%[0-9a-z]+]] = ttg.memdesc_trans [[B]] {order = array<i32: 1, 0>} : {{.*}} -> !ttg.memdesc<32x64xf16
  // CHECK: ttng.warp_group_dot %{{[a-z0-9]+}}, [[T]]
  tt.func public @buffer_of_transpose(%x: tensor<64x32xf16, #rows>, %y: tensor<64x32xf16, #rows>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %a = ttg.local_alloc %x : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #straight, #smem>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x32xf16, #rows> -> tensor<32x64xf16, #columns>
    %b = ttg.local_alloc %t : (tensor<32x64xf16, #columns>) -> !ttg.memdesc<32x64xf16, #turned, #smem>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #straight, #smem> * !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // Rows stay rows.
  // CHECK-LABEL: @buffer_of_reshape
  // CHECK: [[A:%[0-9a-z]+]] = ttg.local_alloc %x : {{.*}} -> !ttg.memdesc<2x32x32xf16
  // CHECK: ttg.memdesc_reshape [[A]] : {{.*}} -> !ttg.memdesc<64x32xf16
  tt.func public @buffer_of_reshape(%x: tensor<2x32x32xf16, #cubes>, %y: tensor<32x32xf16, #rows>, %c: tensor<64x32xf32, #narrow>) -> tensor<64x32xf32, #narrow> {
    %s = tt.reshape %x : tensor<2x32x32xf16, #cubes> -> tensor<64x32xf16, #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[32, 0], [0, 0]], block = []}>>
    %a = ttg.local_alloc %s : (tensor<64x32xf16, #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[32, 0], [0, 0]], block = []}>>) -> !ttg.memdesc<64x32xf16, #straight, #smem>
    %b = ttg.local_alloc %y : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #straight, #smem>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #straight, #smem> * !ttg.memdesc<32x32xf16, #straight, #smem> -> tensor<64x32xf32, #narrow>
    tt.return %d : tensor<64x32xf32, #narrow>
  }
}
