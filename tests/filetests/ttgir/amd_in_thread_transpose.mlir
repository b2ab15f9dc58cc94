// RUN: amd-in-thread-transpose, canonicalize, reduce-data-duplication
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
// CHECK: [[BLOCKS:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4, 8]
// CHECK: [[ROTATING:#shared[0-9]*]] = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // The buffer has K contiguous, and rows that rotate: lanes write rows that are eight apart.
  // CHECK-LABEL: @operand
  // CHECK: tt.load {{.*}}, [[BLOCKS]]>
  // CHECK: ttg.local_alloc {{.*}} -> !ttg.memdesc<64x128xf16, [[ROTATING]], #smem>
  tt.func public @operand(%p: tensor<64x128x!tt.ptr<f16>, #blocked>) -> tensor<64x128xf16, #b> {
    %0 = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
    %1 = ttg.convert_layout %0 : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #b>
    tt.return %1 : tensor<64x128xf16, #b>
  }
  // K is contiguous in global memory already, in the operand of the left side; and other uses keep the load.
  // CHECK-LABEL: @left
  // CHECK: tt.load {{.*}}, #blocked>
  tt.func public @left(%p: tensor<64x128x!tt.ptr<f16>, #blocked>) -> tensor<64x128xf16, #a> {
    %0 = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
    %1 = ttg.convert_layout %0 : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #a>
    tt.return %1 : tensor<64x128xf16, #a>
  }
  // CHECK-LABEL: @used
  // CHECK: tt.load {{.*}}, #blocked>
  tt.func public @used(%p: tensor<64x128x!tt.ptr<f16>, #blocked>) -> (tensor<64x128xf16, #b>, tensor<64x128xf16, #blocked>) {
    %0 = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
    %1 = ttg.convert_layout %0 : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #b>
    tt.return %1, %0 : tensor<64x128xf16, #b>, tensor<64x128xf16, #blocked>
  }
  // Sixteen rows for sixteen threads: none has a block.
  // CHECK-LABEL: @short
  // CHECK: tt.load {{.*}}, #blocked>
  tt.func public @short(%p: tensor<16x128x!tt.ptr<f16>, #blocked>) -> tensor<16x128xf16, #b> {
    %0 = tt.load %p : tensor<16x128x!tt.ptr<f16>, #blocked>
    %1 = ttg.convert_layout %0 : tensor<16x128xf16, #blocked> -> tensor<16x128xf16, #b>
    tt.return %1 : tensor<16x128xf16, #b>
  }
}
