// RUN: optimize-dot-operands
// Each function is named after the rule it is for.
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#cubes = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 8, 4], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#narrow = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#straight = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @buffer_of_transpose(%x: tensor<64x32xf16, #rows>, %y: tensor<64x32xf16, #rows>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %a = ttg.local_alloc %x : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #straight, #smem>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x32xf16, #rows> -> tensor<32x64xf16, #columns>
    %b = ttg.local_alloc %t : (tensor<32x64xf16, #columns>) -> !ttg.memdesc<32x64xf16, #turned, #smem>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #straight, #smem> * !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
  tt.func public @buffer_of_reshape(%x: tensor<2x32x32xf16, #cubes>, %y: tensor<32x32xf16, #rows>, %c: tensor<64x32xf32, #narrow>) -> tensor<64x32xf32, #narrow> {
    %s = tt.reshape %x : tensor<2x32x32xf16, #cubes> -> tensor<64x32xf16, #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[32, 0], [0, 0]], block = []}>>
    %a = ttg.local_alloc %s : (tensor<64x32xf16, #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[32, 0], [0, 0]], block = []}>>) -> !ttg.memdesc<64x32xf16, #straight, #smem>
    %b = ttg.local_alloc %y : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #straight, #smem>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #straight, #smem> * !ttg.memdesc<32x32xf16, #straight, #smem> -> tensor<64x32xf32, #narrow>
    tt.return %d : tensor<64x32xf32, #narrow>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 8, 4], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// #mma1 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
// #shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 3}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @buffer_of_transpose(%x: tensor<64x32xf16, #blocked>, %y: tensor<64x32xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
//     %a = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//     %0 = ttg.local_alloc %y : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//     %b = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #shared1, #smem>
//     %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x64xf16, #shared1, #smem> -> tensor<64x64xf32, #mma>
//     tt.return %d : tensor<64x64xf32, #mma>
//   }
//   tt.func public @buffer_of_reshape(%x: tensor<2x32x32xf16, #blocked1>, %y: tensor<32x32xf16, #blocked>, %c: tensor<64x32xf32, #mma1>) -> tensor<64x32xf32, #mma1> {
//     %0 = ttg.local_alloc %x : (tensor<2x32x32xf16, #blocked1>) -> !ttg.memdesc<2x32x32xf16, #shared2, #smem>
//     %a = ttg.memdesc_reshape %0 : !ttg.memdesc<2x32x32xf16, #shared2, #smem> -> !ttg.memdesc<64x32xf16, #shared, #smem>
//     %b = ttg.local_alloc %y : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
//     %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma1>
//     tt.return %d : tensor<64x32xf32, #mma1>
//   }
// }
