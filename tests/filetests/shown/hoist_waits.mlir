// RUN: hoist-waits
// In the loop of attention, the tile of V is waited for while the scores are computed.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#row = #ttg.slice<{dim = 1, parent = #mma}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!block = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!barrier = !ttg.memdesc<1xi64, #one, #smem, mutable>
!barriers = !ttg.memdesc<2x1xi64, #one, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attend(%q: !block, %k: !block, %v: !block, %full: !barriers, %i: i32, %c: tensor<64x64xf32, #mma>, %o: tensor<64x64xf32, #mma>, %total: tensor<64xf32, #row>) -> (tensor<64x64xf32, #mma>, tensor<64xf32, #row>) {
    %zero = arith.constant 0 : i32
    %s = ttng.warp_group_dot %q, %k, %c {inputPrecision = 0 : i32, isAsync = true} : !block * !block -> tensor<64x64xf32, #mma>
    %t = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    %m = "tt.reduce"(%t) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.maxnumf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #row>
    %col = tt.expand_dims %m {axis = 1 : i32} : tensor<64xf32, #row> -> tensor<64x1xf32, #mma>
    %most = tt.broadcast %col : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
    %rel = arith.subf %t, %most : tensor<64x64xf32, #mma>
    %p = math.exp2 %rel : tensor<64x64xf32, #mma>
    %r = "tt.reduce"(%p) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #row>
    %sum = arith.addf %total, %r : tensor<64xf32, #row>
    %w = arith.truncf %p : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %a = ttg.convert_layout %w : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %bar = ttg.memdesc_index %full[%i] : !barriers -> !barrier
    ttng.wait_barrier %bar, %zero : !barrier
    %d = ttng.warp_group_dot %a, %v, %o {inputPrecision = 0 : i32, isAsync = true} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !block -> tensor<64x64xf32, #mma>
    %e = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %e, %sum : tensor<64x64xf32, #mma>, tensor<64xf32, #row>
  }
}
// OUTPUT
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @attend(%q: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %k: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %v: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %full: !ttg.memdesc<2x1xi64, #shared1, #smem, mutable>, %i: i32, %c: tensor<64x64xf32, #mma>, %o: tensor<64x64xf32, #mma>, %total: tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>) -> (tensor<64x64xf32, #mma>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>) {
//     %zero = arith.constant 0 : i32
//     %s = ttng.warp_group_dot %q, %k, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
//     %bar = ttg.memdesc_index %full[%i] : !ttg.memdesc<2x1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.wait_barrier %bar, %zero : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     %t = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : tensor<64x64xf32, #mma>
//     %m = "tt.reduce"(%t) <{axis = 1 : i32}> ({
//     ^bb0(%x: f32, %y: f32):
//       %z = arith.maxnumf %x, %y : f32
//       tt.reduce.return %z : f32
//     }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//     %col = tt.expand_dims %m {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xf32, #mma>
//     %most = tt.broadcast %col : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
//     %rel = arith.subf %t, %most : tensor<64x64xf32, #mma>
//     %p = math.exp2 %rel : tensor<64x64xf32, #mma>
//     %r = "tt.reduce"(%p) <{axis = 1 : i32}> ({
//     ^bb0(%x: f32, %y: f32):
//       %z = arith.addf %x, %y : f32
//       tt.reduce.return %z : f32
//     }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//     %sum = arith.addf %total, %r : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//     %w = arith.truncf %p : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
//     %a = ttg.convert_layout %w : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//     %d = ttng.warp_group_dot %a, %v, %o {inputPrecision = 0 : i32, isAsync = true} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
//     %e = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
//     tt.return %e, %sum : tensor<64x64xf32, #mma>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
//   }
// }
