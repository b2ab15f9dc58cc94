// RUN: amd-optimize-epilogue
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Masks are converted, too.
  // CHECK-LABEL: @masked
  // CHECK: ttg.convert_layout %p
  // CHECK: ttg.convert_layout %m
  // CHECK: tt.store {{.*}}, %d, {{.*}} : tensor<128x128x!tt.ptr<f32>, #mma>
  tt.func public @masked(%p: tensor<128x128x!tt.ptr<f32>, #blocked>, %m: tensor<128x128xi1, #blocked>, %d: tensor<128x128xf32, #mma>) {
    %0 = ttg.convert_layout %d : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #blocked>
    tt.store %p, %0, %m : tensor<128x128x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // A value with another use, and an operation with two operands, keep the conversion.
  // CHECK-LABEL: @used_twice
  // CHECK: tt.store {{.*}}#blocked>
  // CHECK: tt.store {{.*}}#blocked>
  tt.func public @used_twice(%p: tensor<128x128x!tt.ptr<f32>, #blocked>, %q: tensor<128x128x!tt.ptr<f32>, #blocked>, %d: tensor<128x128xf32, #mma>) {
    %0 = ttg.convert_layout %d : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #blocked>
    tt.store %p, %0 : tensor<128x128x!tt.ptr<f32>, #blocked>
    tt.store %q, %0 : tensor<128x128x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // CHECK-LABEL: @two_operands
  // CHECK: tt.store {{.*}}#blocked>
  tt.func public @two_operands(%p: tensor<128x128x!tt.ptr<f32>, #blocked>, %x: tensor<128x128xf32, #blocked>, %d: tensor<128x128xf32, #mma>) {
    %0 = ttg.convert_layout %d : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #blocked>
    %1 = arith.addf %0, %x : tensor<128x128xf32, #blocked>
    tt.store %p, %1 : tensor<128x128x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
