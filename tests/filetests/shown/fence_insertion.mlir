// RUN: fence-insertion
// In the first loop an operand is written in each iteration, in the second none: there the fence is before the loop.
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @sum(%x: tensor<64x32xf16, #rows>, %y: tensor<32x32xf16, #rows>, %zero: tensor<64x32xf32, #mma>, %n: i32) {
    %first = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    %a = ttg.local_alloc %x : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %s = scf.for %i = %first to %n step %step iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>) : i32 {
      %b = ttg.local_alloc %y : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    %b = ttg.local_alloc %y : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %r = scf.for %i = %first to %n step %step iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
//   tt.func public @sum(%x: tensor<64x32xf16, #blocked>, %y: tensor<32x32xf16, #blocked>, %zero: tensor<64x32xf32, #mma>, %n: i32) {
//     %first = arith.constant 0 : i32
//     %step = arith.constant 1 : i32
//     %a = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//     %s = scf.for %i = %first to %n step %step iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>)  : i32 {
//       %b_0 = ttg.local_alloc %y : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
//       ttng.fence_async_shared {bCluster = false}
//       %d = ttng.warp_group_dot %a, %b_0, %c : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
//       scf.yield %d : tensor<64x32xf32, #mma>
//     }
//     %b = ttg.local_alloc %y : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
//     ttng.fence_async_shared {bCluster = false}
//     %r = scf.for %i = %first to %n step %step iter_args(%c = %zero) -> (tensor<64x32xf32, #mma>)  : i32 {
//       %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
//       scf.yield %d : tensor<64x32xf32, #mma>
//     }
//     tt.return
//   }
// }
