// RUN: allocate-shared-memory
// The conversion exchanges elements between warps through 4096 bytes of scratch; the buffer before it is deallocated by
// then, so they share the same bytes.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @turn(%x: tensor<32x32xf32, #rows>) {
    %b = ttg.local_alloc %x : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %y = ttg.local_load %b : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    ttg.local_dealloc %b : !ttg.memdesc<32x32xf32, #shared, #smem>
    %z = ttg.convert_layout %y : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
// #shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 4096 : i32, ttg.target = "cuda:90"} {
//   tt.func public @turn(%x: tensor<32x32xf32, #blocked>) {
//     %b = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<32x32xf32, #blocked>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
//     %y = ttg.local_load %b : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #blocked>
//     ttg.local_dealloc %b : !ttg.memdesc<32x32xf32, #shared, #smem>
//     %z = ttg.convert_layout %y {allocation.offset = 0 : i32} : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #blocked1>
//     tt.return
//   }
// }
