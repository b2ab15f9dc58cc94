// RUN: decompose-scaled-upcasts
// Pairs of 4-bit floats become f16 first; the scale is multiplied in f32, and the result rounded once.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @eight_bits(%x: tensor<16x64xf8E4M3FN, #blocked1>, %s: tensor<16x64xbf16, #blocked1>) -> tensor<16x64xbf16, #blocked1> {
    %y = amdg.scaled_upcast_fp8 %x scale %s : tensor<16x64xf8E4M3FN, #blocked1>, tensor<16x64xbf16, #blocked1> -> tensor<16x64xbf16, #blocked1>
    tt.return %y : tensor<16x64xbf16, #blocked1>
  }
  tt.func public @four_bits(%x: tensor<16x32xi8, #blocked>, %s: tensor<16x64xbf16, #blocked1>) -> tensor<16x64xf16, #blocked1> {
    %y = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<16x32xi8, #blocked>, tensor<16x64xbf16, #blocked1> -> tensor<16x64xf16, #blocked1>
    tt.return %y : tensor<16x64xf16, #blocked1>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @eight_bits(%x: tensor<16x64xf8E4M3FN, #blocked>, %s: tensor<16x64xbf16, #blocked>) -> tensor<16x64xbf16, #blocked> {
//     %0 = tt.fp_to_fp %x : tensor<16x64xf8E4M3FN, #blocked> -> tensor<16x64xf32, #blocked>
//     %1 = arith.extf %s : tensor<16x64xbf16, #blocked> to tensor<16x64xf32, #blocked>
//     %2 = arith.mulf %0, %1 : tensor<16x64xf32, #blocked>
//     %3 = arith.truncf %2 : tensor<16x64xf32, #blocked> to tensor<16x64xbf16, #blocked>
//     tt.return %3 : tensor<16x64xbf16, #blocked>
//   }
//   tt.func public @four_bits(%x: tensor<16x32xi8, #blocked1>, %s: tensor<16x64xbf16, #blocked>) -> tensor<16x64xf16, #blocked> {
//     %0 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<16x32xi8, #blocked1> -> tensor<16x64xf16, #blocked>
//     %1 = arith.extf %0 : tensor<16x64xf16, #blocked> to tensor<16x64xf32, #blocked>
//     %2 = arith.extf %s : tensor<16x64xbf16, #blocked> to tensor<16x64xf32, #blocked>
//     %3 = arith.mulf %1, %2 : tensor<16x64xf32, #blocked>
//     %4 = arith.truncf %3 : tensor<16x64xf32, #blocked> to tensor<16x64xf16, #blocked>
//     tt.return %4 : tensor<16x64xf16, #blocked>
//   }
// }
