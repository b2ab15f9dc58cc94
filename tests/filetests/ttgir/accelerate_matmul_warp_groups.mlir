// RUN: accelerate-matmul, canonicalize, cse
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 8], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Rows for two groups of four warps; halves may have their neighbours along either dimension.
  // CHECK-DAG: [[DOWN:#mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
  // CHECK-DAG: [[SIDE:#mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 64, 16]}>
  // CHECK-DAG: [[INTEGERS:#mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 32]}>
  // CHECK-DAG: [[ROWS:#shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
  // CHECK-DAG: [[TURNED:#shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
  // CHECK-DAG: [[ALONG_K:#shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
  // CHECK-LABEL: @halves
  // CHECK-DAG: ttg.local_alloc %a : {{.*}} -> !ttg.memdesc<128x64xf16, [[ROWS]], #smem>
  // CHECK-DAG: ttg.local_alloc %b : {{.*}} -> !ttg.memdesc<64x128xf16, [[TURNED]], #smem>
  // CHECK: ttng.warp_group_dot {{.*}} -> tensor<128x128xf32, [[DOWN]]>
  tt.func public @halves(%a: tensor<128x64xf16, #blocked>, %b: tensor<64x128xf16, #columns>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #a>
    %y = ttg.convert_layout %b : tensor<64x128xf16, #columns> -> tensor<64x128xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<128x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
  // 64 rows are those of one group: the other one takes other columns.
  // CHECK-LABEL: @side_by_side
  // CHECK: ttng.warp_group_dot {{.*}} -> tensor<64x128xf32, [[SIDE]]>
  tt.func public @side_by_side(%a: tensor<64x64xf16, #blocked>, %b: tensor<64x128xf16, #blocked>, %c: tensor<64x128xf32, #blocked>) -> tensor<64x128xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %y = ttg.convert_layout %b : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #blocked>
    tt.return %d : tensor<64x128xf32, #blocked>
  }
  // Other types are stored with neighbours along K.
  // CHECK-LABEL: @integers
  // CHECK-DAG: ttg.local_alloc %b : {{.*}} -> !ttg.memdesc<128x256xi8, [[ALONG_K]], #smem>
  // CHECK: ttng.warp_group_dot {{.*}} -> tensor<128x256xi32, [[INTEGERS]]>
  tt.func public @integers(%a: tensor<128x128xi8, #blocked>, %b: tensor<128x256xi8, #blocked>, %c: tensor<128x256xi32, #blocked>) -> tensor<128x256xi32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x128xi8, #blocked> -> tensor<128x128xi8, #a>
    %y = ttg.convert_layout %b : tensor<128x256xi8, #blocked> -> tensor<128x256xi8, #b>
    %d = tt.dot %x, %y, %c : tensor<128x128xi8, #a> * tensor<128x256xi8, #b> -> tensor<128x256xi32, #blocked>
    tt.return %d : tensor<128x256xi32, #blocked>
  }
  // What is computed stays in registers, and rows stay in their warps.
  // CHECK-LABEL: @chained
  // CHECK: ttng.warp_group_dot {{.*}} -> tensor<64x64xf32, [[ROW:#mma[0-9]*]]>
  // CHECK: ttg.convert_layout {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = [[SECOND:#mma[0-9]*]], kWidth = 2}>>
  // CHECK: ttng.warp_group_dot {{.*}} -> tensor<64x128xf32, [[SECOND]]>
  tt.func public @chained(%a: tensor<64x64xf16, #blocked>, %b: tensor<64x64xf16, #blocked>, %v: tensor<64x128xf16, #blocked>, %c: tensor<64x64xf32, #blocked>, %s: tensor<64x128xf32, #blocked>) -> tensor<64x128xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %y = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
    %z = ttg.convert_layout %v : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %e = arith.truncf %d : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %f = ttg.convert_layout %e : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %g = tt.dot %f, %z, %s : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #blocked>
    tt.return %g : tensor<64x128xf32, #blocked>
  }
  // Fewer rows than a group has, and sums that must be more precise: single warps.
  // CHECK-LABEL: @few_rows
  // CHECK: tt.dot {{.*}} -> tensor<32x64xf32, #mma{{.*}}>
  // CHECK-LABEL: @precise
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #mma{{.*}}>
  tt.func public @few_rows(%a: tensor<32x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<32x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<32x64xf32, #blocked>
    tt.return %d : tensor<32x64xf32, #blocked>
  }
  tt.func public @precise(%a: tensor<64x64xf8E5M2, #a>, %b: tensor<64x64xf8E5M2, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c {maxNumImpreciseAcc = 16 : i32} : tensor<64x64xf8E5M2, #a> * tensor<64x64xf8E5M2, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}
