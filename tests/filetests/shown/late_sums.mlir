// RUN: late-sums
// The sum of a row is carried as one partial sum for each of four lanes, which are added an iteration later.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#row = #ttg.slice<{dim = 1, parent = #mma}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sums(%q: !ttg.memdesc<64x32xf16, #shared, #smem>, %k: !ttg.memdesc<32x32xf16, #shared1, #smem>, %n: i32, %a: tensor<64xf32, #row>, %x: tensor<64xf32, #row>) -> tensor<64xf32, #row> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x32xf32, #mma>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%l = %x) -> (tensor<64xf32, #row>) : i32 {
      %p = ttng.warp_group_dot %q, %k, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared1, #smem> -> tensor<64x32xf32, #mma>
      %s = "tt.reduce"(%p) <{axis = 1 : i32}> ({
      ^bb0(%y: f32, %z: f32):
        %w = arith.addf %y, %z : f32
        tt.reduce.return %w : f32
      }) : (tensor<64x32xf32, #mma>) -> tensor<64xf32, #row>
      %m = arith.mulf %l, %a : tensor<64xf32, #row>
      %u = arith.addf %m, %s : tensor<64xf32, #row>
      scf.yield %u : tensor<64xf32, #row>
    }
    tt.return %sum : tensor<64xf32, #row>
  }
}
// OUTPUT
// #linear = #ttg.linear<{register = [[0, 0, 0, 1], [8, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0]], lane = [[0, 0, 1, 0], [0, 0, 2, 0], [1, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0]], warp = [[16, 0, 0, 0], [32, 0, 0, 0]], block = []}>
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @sums(%q: !ttg.memdesc<64x32xf16, #shared, #smem>, %k: !ttg.memdesc<32x32xf16, #shared1, #smem>, %n: i32, %a: tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, %x: tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<64x32xf32, #mma>
//     %cst = arith.constant {tritium.opaque} dense<1.000000e+00> : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//     %cst_0 = arith.constant dense<-0.000000e+00> : tensor<64x4xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>>
//     %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %x, %arg7 = %cst, %arg8 = %cst_0) -> (tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<64x4xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>>)  : i32 {
//       %s_1 = "tt.reduce"(%arg8) <{axis = 1 : i32}> ({
//       ^bb0(%y: f32, %z: f32):
//         %w = arith.addf %y, %z : f32
//         tt.reduce.return %w : f32
//       }) : (tensor<64x4xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>}>>
//       %3 = ttg.convert_layout %s_1 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>}>> -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//       %4 = arith.mulf %l, %arg7 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//       %5 = arith.addf %4, %3 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//       %p = ttng.warp_group_dot %q, %k, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared1, #smem> -> tensor<64x32xf32, #mma>
//       %6 = tt.reshape %p : tensor<64x32xf32, #mma> -> tensor<64x4x4x2xf32, #linear>
//       %s_2 = "tt.reduce"(%6) <{axis = 3 : i32}> ({
//       ^bb0(%y: f32, %z: f32):
//         %w = arith.addf %y, %z : f32
//         tt.reduce.return %w : f32
//       }) : (tensor<64x4x4x2xf32, #linear>) -> tensor<64x4x4xf32, #ttg.slice<{dim = 3, parent = #linear}>>
//       %s_3 = "tt.reduce"(%s_2) <{axis = 1 : i32}> ({
//       ^bb0(%y: f32, %z: f32):
//         %w = arith.addf %y, %z : f32
//         tt.reduce.return %w : f32
//       }) : (tensor<64x4x4xf32, #ttg.slice<{dim = 3, parent = #linear}>>) -> tensor<64x4xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>>
//       scf.yield %5, %a, %s_3 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<64x4xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>>
//     }
//     %s = "tt.reduce"(%sum#2) <{axis = 1 : i32}> ({
//     ^bb0(%y: f32, %z: f32):
//       %w = arith.addf %y, %z : f32
//       tt.reduce.return %w : f32
//     }) : (tensor<64x4xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>}>>
//     %0 = ttg.convert_layout %s : tensor<64xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 3, parent = #linear}>}>}>> -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//     %1 = arith.mulf %sum#0, %sum#1 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//     %2 = arith.addf %1, %0 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//     tt.return %2 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//   }
// }
