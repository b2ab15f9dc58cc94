// RUN: store-in-own-cta
// Each of two CTAs owns rows of the tensor, but columns of the buffer: a conversion exchanges elements.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[0, 1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @turn(%x: tensor<32x64xf32, #rows>) -> tensor<32x64xf32, #rows> {
    %b = ttg.local_alloc %x : (tensor<32x64xf32, #rows>) -> !ttg.memdesc<32x64xf32, #columns, #smem, mutable>
    %y = ttg.local_load %b : !ttg.memdesc<32x64xf32, #columns, #smem, mutable> -> tensor<32x64xf32, #rows>
    tt.return %y : tensor<32x64xf32, #rows>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[0, 1]]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @turn(%x: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
//     %0 = ttg.convert_layout %x : tensor<32x64xf32, #blocked> -> tensor<32x64xf32, #blocked1>
//     %b = ttg.local_alloc %0 : (tensor<32x64xf32, #blocked1>) -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
//     %y = ttg.local_load %b : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> tensor<32x64xf32, #blocked1>
//     %1 = ttg.convert_layout %y : tensor<32x64xf32, #blocked1> -> tensor<32x64xf32, #blocked>
//     tt.return %1 : tensor<32x64xf32, #blocked>
//   }
// }
