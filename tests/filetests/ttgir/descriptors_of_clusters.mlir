// RUN: optimize-descriptor-encoding
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Half a row is 8 bytes, which the engine does not move: each block has whole rows.
  // CHECK: [[WHOLE:#.*]] = #ttg.nvmma_shared<{{.*}}CGALayout = {{\[\[}}0, 0]]}>
  // CHECK: [[HALF:#.*]] = #ttg.nvmma_shared<{{.*}}CGALayout = {{\[\[}}0, 1]]}>
  // CHECK: tt.func public @short({{.*}}<32x16xf8E5M2, [[WHOLE]]>
  tt.func public @short(%d: !tt.tensordesc<32x16xf8E5M2>, %i: i32) -> tensor<32x16xf8E5M2, #rows> {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<32x16xf8E5M2> -> tensor<32x16xf8E5M2, #rows>
    tt.return %x : tensor<32x16xf8E5M2, #rows>
  }
  // CHECK: tt.func public @long({{.*}}<32x32xf8E5M2, [[HALF]]>
  tt.func public @long(%d: !tt.tensordesc<32x32xf8E5M2>, %i: i32) -> tensor<32x32xf8E5M2, #rows> {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<32x32xf8E5M2> -> tensor<32x32xf8E5M2, #rows>
    tt.return %x : tensor<32x32xf8E5M2, #rows>
  }
}
