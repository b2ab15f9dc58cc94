// RUN: infer-coalesced-encodings
// 1024 halves from an address that 16 divides: each thread loads eight neighbours at once.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copy(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #gluon.coalesced_encoding>
    %base = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>
    %at = tt.addptr %base, %i : tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    %x = tt.load %at : tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>
    %to = tt.splat %q : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>
    %there = tt.addptr %to, %i : tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    tt.store %there, %x : tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @copy(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
//     %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
//     %base = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
//     %at = tt.addptr %base, %i : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
//     %x = tt.load %at : tensor<1024x!tt.ptr<f16>, #blocked>
//     %to = tt.splat %q : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
//     %there = tt.addptr %to, %i : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
//     tt.store %there, %x : tensor<1024x!tt.ptr<f16>, #blocked>
//     tt.return
//   }
// }
