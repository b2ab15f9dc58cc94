// RUN: convert-triton-to-tritongpu, coalesce
// 1024 halves from an address that 16 divides: each thread loads eight neighbours at once.
tt.func public @copy(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) -> tensor<1024xf16> {
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %at = tt.addptr %base, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %x = tt.load %at : tensor<1024x!tt.ptr<f16>>
  tt.return %x : tensor<1024xf16>
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @copy(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) -> tensor<1024xf16, #blocked> {
//     %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
//     %base = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
//     %at = tt.addptr %base, %i : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
//     %0 = ttg.convert_layout %at : tensor<1024x!tt.ptr<f16>, #blocked> -> tensor<1024x!tt.ptr<f16>, #blocked1>
//     %x = tt.load %0 : tensor<1024x!tt.ptr<f16>, #blocked1>
//     %x_0 = ttg.convert_layout %x : tensor<1024xf16, #blocked1> -> tensor<1024xf16, #blocked>
//     tt.return %x_0 : tensor<1024xf16, #blocked>
//   }
// }
