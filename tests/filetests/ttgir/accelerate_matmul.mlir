// RUN: accelerate-matmul, canonicalize, cse
#blocked = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 2, 2], threadsPerWarp = [1, 2, 16], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
#a3 = #ttg.dot_op<{opIdx = 0, parent = #blocked3}>
#b3 = #ttg.dot_op<{opIdx = 1, parent = #blocked3}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // fp8 is widened behind the conversion, so that bytes move; and each thread has four neighbours along K.
  // CHECK-LABEL: @fp8
  // CHECK: ttg.convert_layout %a : {{.*}} -> tensor<64x32xf8E5M2, #ttg.dot_op<{opIdx = 0, parent = #mma{{.*}}, kWidth = 4}>>
  // CHECK: ttg.convert_layout %b : {{.*}} -> tensor<32x64xf8E4M3FN, #ttg.dot_op<{opIdx = 1, parent = #mma{{.*}}, kWidth = 4}>>
  // CHECK: tt.fp_to_fp {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma{{.*}}, kWidth = 4}>>
  // CHECK: tt.fp_to_fp {{.*}} -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma{{.*}}, kWidth = 4}>>
  tt.func public @fp8(%a: tensor<64x32xf8E5M2, #a>, %b: tensor<32x64xf8E4M3FN, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c {maxNumImpreciseAcc = 1073741824 : i32} : tensor<64x32xf8E5M2, #a> * tensor<32x64xf8E4M3FN, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  // Exact products of f32 are multiplied thread by thread; where tf32 is allowed they are not.
  // CHECK-LABEL: @exact
  // CHECK-NOT: mma
  // CHECK-LABEL: @tf32
  // CHECK: tt.dot {{.*}}, inputPrecision = tf32 : {{.*}} -> tensor<64x64xf32, #mma{{.*}}>
  tt.func public @exact(%a: tensor<64x32xf32, #a>, %b: tensor<32x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  tt.func public @tf32(%a: tensor<64x32xf32, #a>, %b: tensor<32x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  // Integers of other widths have no instruction: they are widened to the result and multiplied thread by thread.
  // CHECK-LABEL: @integers
  // CHECK: arith.extsi %a : tensor<64x32xi16, {{.*}}> to tensor<64x32xi32, {{.*}}>
  // CHECK: tt.dot {{.*}} -> tensor<64x64xi32, #blocked>
  tt.func public @integers(%a: tensor<64x32xi16, #a>, %b: tensor<32x64xi16, #b>, %c: tensor<64x64xi32, #blocked>) -> tensor<64x64xi32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x32xi16, #a> * tensor<32x64xi16, #b> -> tensor<64x64xi32, #blocked>
    tt.return %d : tensor<64x64xi32, #blocked>
  }
  // The first product's result is an operand of the second: all warps down the rows of both.
  // CHECK-LABEL: @chained
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, [[MMA:#mma[0-9]*]]>
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, [[MMA]]>
  tt.func public @chained(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %e = arith.truncf %d : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %f = ttg.convert_layout %e : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %g = tt.dot %f, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %g : tensor<64x64xf32, #blocked>
  }
  // Of a batch each warp takes products of its own.
  // CHECK-LABEL: @batch
  // CHECK: tt.dot {{.*}} -> tensor<4x16x16xi32, #mma{{.*}}>
  tt.func public @batch(%a: tensor<4x16x32xi8, #a3>, %b: tensor<4x32x16xi8, #b3>, %c: tensor<4x16x16xi32, #blocked3>) -> tensor<4x16x16xi32, #blocked3> {
    %d = tt.dot %a, %b, %c : tensor<4x16x32xi8, #a3> * tensor<4x32x16xi8, #b3> -> tensor<4x16x16xi32, #blocked3>
    tt.return %d : tensor<4x16x16xi32, #blocked3>
  }
}
