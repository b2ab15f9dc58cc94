// RUN: optimize-descriptor-encoding
// A tile read by a dot with a swizzle of 64 bytes gets that; tiles that go to registers get the widest swizzle.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#operand = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copy(%x: !tt.tensordesc<64x64xf16>, %y: !tt.tensordesc<64x64xf16>, %i: i32) -> !ttg.memdesc<64x64xf16, #operand, #smem> {
    %block = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #blocked>
    %m = ttg.local_alloc %block : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #operand, #smem>
    tt.descriptor_store %y[%i, %i], %block : !tt.tensordesc<64x64xf16>, tensor<64x64xf16, #blocked>
    tt.return %m : !ttg.memdesc<64x64xf16, #operand, #smem>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @copy(%x: !tt.tensordesc<64x64xf16, #shared>, %y: !tt.tensordesc<64x64xf16, #shared1>, %i: i32) -> !ttg.memdesc<64x64xf16, #shared, #smem> {
//     %block = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
//     %m = ttg.local_alloc %block : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
//     tt.descriptor_store %y[%i, %i], %block : !tt.tensordesc<64x64xf16, #shared1>, tensor<64x64xf16, #blocked>
//     tt.return %m : !ttg.memdesc<64x64xf16, #shared, #smem>
//   }
// }
