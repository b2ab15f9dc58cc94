// RUN: reorder-instructions
// On AMD GPUs the copy to LDS is not hoisted to the load: buffers of several operands share LDS.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @copies
  // CHECK: %[[X:.*]] = tt.load %p
  // CHECK-NEXT: tt.load %q
  // CHECK-NEXT: ttg.local_alloc
  tt.func public @copies(%p: tensor<32x64x!tt.ptr<f16>, #blocked>, %q: tensor<32x64x!tt.ptr<f16>, #blocked>) -> tensor<32x64xf16, #blocked> {
    %x = tt.load %p : tensor<32x64x!tt.ptr<f16>, #blocked>
    %y = tt.load %q : tensor<32x64x!tt.ptr<f16>, #blocked>
    %a = ttg.local_alloc %x : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared, #smem>
    %b = ttg.local_load %a : !ttg.memdesc<32x64xf16, #shared, #smem> -> tensor<32x64xf16, #blocked>
    %z = arith.addf %b, %y : tensor<32x64xf16, #blocked>
    tt.return %z : tensor<32x64xf16, #blocked>
  }
}
