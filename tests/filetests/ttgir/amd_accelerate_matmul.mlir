// RUN: amd-accelerate-matmul{kPack=2}, canonicalize, cse
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // gfx942 has MFMAs for the FNUZ variants of fp8; OCP's are converted to f16 once they are operands.
  // CHECK-LABEL: @fp8
  // CHECK: ttg.convert_layout %a : {{.*}} -> tensor<64x64xf8E5M2, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
  // CHECK: tt.fp_to_fp {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #mma>
  tt.func public @fp8(%a: tensor<64x64xf8E5M2, #a>, %b: tensor<64x64xf8E4M3FN, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf8E5M2, #a> * tensor<64x64xf8E4M3FN, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  // Accumulators are f32: the f16 ones are widened before and rounded after.
  // CHECK-LABEL: @narrow
  // CHECK: arith.extf {{.*}} to tensor<64x64xf32, #mma>
  // CHECK: arith.truncf {{.*}} to tensor<64x64xf16, #blocked>
  tt.func public @narrow(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf16, #blocked>) -> tensor<64x64xf16, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf16, #blocked>
    tt.return %d : tensor<64x64xf16, #blocked>
  }
  // Integers of 16 bits have no MFMA, nor does a K of 4: FMAs.
  // CHECK-LABEL: @integers
  // CHECK: tt.dot {{.*}} -> tensor<64x64xi32, #blocked>
  tt.func public @integers(%a: tensor<64x64xi16, #a>, %b: tensor<64x64xi16, #b>, %c: tensor<64x64xi32, #blocked>) -> tensor<64x64xi32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xi16, #a> * tensor<64x64xi16, #b> -> tensor<64x64xi32, #blocked>
    tt.return %d : tensor<64x64xi32, #blocked>
  }
  // CHECK-LABEL: @short
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #blocked>
  tt.func public @short(%a: tensor<64x4xf16, #a>, %b: tensor<4x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x4xf16, #a> * tensor<4x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  // A dot whose result is operand a of another has all warps along M; the other reads what the first leaves in a lane.
  // CHECK-LABEL: @chained
  // CHECK: tt.dot {{.*}}kWidth = 8{{.*}} -> tensor<64x64xf32, [[ROWS:#mma[0-9]*]]>
  // CHECK: tt.dot {{.*}}kWidth = 4{{.*}} -> tensor<64x64xf32, #mma{{[0-9]*}}>
  tt.func public @chained(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %e = arith.truncf %d : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %f = ttg.convert_layout %e : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %g = tt.dot %f, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %g : tensor<64x64xf32, #blocked>
  }
}
