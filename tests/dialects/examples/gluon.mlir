#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @choose(%x: tensor<128xf32, #gluon.auto_encoding>, %p: tensor<128x!tt.ptr<f32>, #gluon.coalesced_encoding>) -> tensor<128xf32, #blocked> {
    %0 = gluon.set_auto_layout %x : tensor<128xf32, #gluon.auto_encoding> -> tensor<128xf32, #blocked>
    tt.return %0 : tensor<128xf32, #blocked>
  }
}
