// RUN: canonicalize
// Each function is named after the rule it is for.
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @concat_of_one(%x: tensor<32x64xf32, #a>) -> tensor<32x64xf32, #a> {
    %y = amdg.concat %x : tensor<32x64xf32, #a> -> tensor<32x64xf32, #a>
    tt.return %y : tensor<32x64xf32, #a>
  }
  // Not a part of two operands.
  tt.func public @part_of_concat(%x: tensor<64x64xf32, #a>, %y: tensor<64x64xf32, #a>, %z: tensor<64x64xf32, #a>, %w: tensor<64x64xf32, #a>) -> (tensor<64x64xf32, #a>, tensor<64x64xf32, #a>) {
    %c = amdg.concat %x, %y, %z, %w : tensor<64x64xf32, #a>, tensor<64x64xf32, #a>, tensor<64x64xf32, #a>, tensor<64x64xf32, #a> -> tensor<128x128xf32, #a>
    %p = amdg.extract_slice %c [64, 0] : tensor<128x128xf32, #a> to tensor<64x64xf32, #a>
    %q = amdg.extract_slice %c [32, 0] : tensor<128x128xf32, #a> to tensor<64x64xf32, #a>
    tt.return %p, %q : tensor<64x64xf32, #a>, tensor<64x64xf32, #a>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @concat_of_one(%x: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
//     tt.return %x : tensor<32x64xf32, #blocked>
//   }
//   tt.func public @part_of_concat(%x: tensor<64x64xf32, #blocked>, %y: tensor<64x64xf32, #blocked>, %z: tensor<64x64xf32, #blocked>, %w: tensor<64x64xf32, #blocked>) -> (tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>) {
//     %c = amdg.concat %x, %y, %z, %w : tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked> -> tensor<128x128xf32, #blocked>
//     %q = amdg.extract_slice %c [32, 0] : tensor<128x128xf32, #blocked> to tensor<64x64xf32, #blocked>
//     tt.return %z, %q : tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>
//   }
// }
