// RUN: store-in-own-cta
#whole = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0]]}>
#half = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#both = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What each block has whole, it stores a part of, of which it holds no more then.
  // CHECK-LABEL: @store
  // CHECK: [[PART:%.*]] = ttg.convert_layout %x
  // CHECK-NEXT: ttg.local_alloc [[PART]]
  tt.func public @store(%x: tensor<32x32xf16, #whole>) {
    %b = ttg.local_alloc %x : (tensor<32x32xf16, #whole>) -> !ttg.memdesc<32x32xf16, #half, #smem>
    tt.return
  }
  // To a memory that each has whole it goes as it is.
  // CHECK-LABEL: @store_whole
  // CHECK-NOT: ttg.convert_layout
  tt.func public @store_whole(%x: tensor<32x32xf16, #whole>) {
    %b = ttg.local_alloc %x : (tensor<32x32xf16, #whole>) -> !ttg.memdesc<32x32xf16, #both, #smem>
    tt.return
  }
}
