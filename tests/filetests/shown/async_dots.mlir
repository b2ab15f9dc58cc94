// RUN: async-dots
// The dot stays in flight while the next iteration waits for its copies; slots are free after the wait.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @products(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %slot = arith.remsi %i, %c3 : i32
      %a = ttg.memdesc_index %as[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
// OUTPUT
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @products(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c3 = arith.constant 3 : i32
//     %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {
//       %slot = arith.remsi %i, %c3 : i32
//       %a = ttg.memdesc_index %as[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//       %b = ttg.memdesc_index %bs[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//       %r = ttng.warp_group_dot %a, %b, %acc {isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
//       %1:3 = ttng.warp_group_dot_wait %r, %a, %b {pendings = 1 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//       scf.yield %1#0 : tensor<64x64xf32, #mma>
//     }
//     %0 = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
//     tt.return %0 : tensor<64x64xf32, #mma>
//   }
// }
