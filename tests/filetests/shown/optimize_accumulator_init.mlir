// RUN: optimize-accumulator-init
// The accumulator is stored and reset after each tile; the next dot initializes it.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @tiles(%n: i32, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %next = scf.if %p -> (tensor<64x64xf32, #mma>) {
        tt.print "sum" {hex = false, isSigned = array<i32: 0>} : %r : tensor<64x64xf32, #mma>
        scf.yield %zero : tensor<64x64xf32, #mma>
      } else {
        scf.yield %r : tensor<64x64xf32, #mma>
      }
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return
  }
}
// OUTPUT
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @tiles(%n: i32, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: i1) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
//     %true = arith.constant true
//     %false = arith.constant false
//     %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %arg6 = %false) -> (tensor<64x64xf32, #mma>, i1)  : i32 {
//       %r = ttng.warp_group_dot %a, %b, %acc, %arg6 : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
//       %0 = arith.select %p, %false, %true : i1
//       %next = scf.if %p -> (tensor<64x64xf32, #mma>) {
//         tt.print "sum" {hex = false, isSigned = array<i32: 0>} : %r : tensor<64x64xf32, #mma>
//         scf.yield %r : tensor<64x64xf32, #mma>
//       } else {
//         scf.yield %r : tensor<64x64xf32, #mma>
//       }
//       scf.yield %r, %0 : tensor<64x64xf32, #mma>, i1
//     }
//     tt.return
//   }
// }
