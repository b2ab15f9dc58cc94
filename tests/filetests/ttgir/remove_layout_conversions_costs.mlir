// RUN: remove-layout-conversions
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Arithmetic on values that each thread can compute is repeated; loaded tensors are converted, not loaded again.
  tt.func public @repeat(%p: tensor<32x64x!tt.ptr<f32>, #a>, %q: tensor<32x64x!tt.ptr<i32>, #b>, %n: i32) -> tensor<32x64xf32, #b> {
    %s = tt.splat %n : i32 -> tensor<32x64xi32, #a>
    %c = arith.constant dense<3> : tensor<32x64xi32, #a>
    %t = arith.muli %s, %c : tensor<32x64xi32, #a>
    %u = ttg.convert_layout %t : tensor<32x64xi32, #a> -> tensor<32x64xi32, #b>
    tt.store %q, %u : tensor<32x64x!tt.ptr<i32>, #b>
    %x = tt.load %p : tensor<32x64x!tt.ptr<f32>, #a>
    %y = ttg.convert_layout %x : tensor<32x64xf32, #a> -> tensor<32x64xf32, #b>
    tt.return %y : tensor<32x64xf32, #b>
  }
  // Half as many bytes are converted before the cast.
  tt.func public @narrow(%p: tensor<32x64x!tt.ptr<f16>, #a>) -> tensor<32x64xf64, #b> {
    %x = tt.load %p : tensor<32x64x!tt.ptr<f16>, #a>
    %y = arith.extf %x : tensor<32x64xf16, #a> to tensor<32x64xf64, #a>
    %z = ttg.convert_layout %y : tensor<32x64xf64, #a> -> tensor<32x64xf64, #b>
    tt.return %z : tensor<32x64xf64, #b>
  }
  // Operands are converted where they are loaded, and widened in the layout of the dot.
  tt.func public @load(%p: tensor<32x64x!tt.ptr<f8E5M2>, #a>, %w: tensor<64x32xf16, #right>, %c: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %x = tt.load %p : tensor<32x64x!tt.ptr<f8E5M2>, #a>
    %y = tt.fp_to_fp %x : tensor<32x64xf8E5M2, #a> -> tensor<32x64xf16, #a>
    %l = ttg.convert_layout %y : tensor<32x64xf16, #a> -> tensor<32x64xf16, #left>
    %d = tt.dot %l, %w, %c : tensor<32x64xf16, #left> * tensor<64x32xf16, #right> -> tensor<32x32xf32, #mma>
    tt.return %d : tensor<32x32xf32, #mma>
  }
  // The layout of a dot's result is preferred over that of a load: the sum is computed in it.
  tt.func public @conflict(%p: tensor<32x32x!tt.ptr<f32>, #a>, %l: tensor<32x64xf16, #left>, %w: tensor<64x32xf16, #right>, %c: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %x = tt.load %p : tensor<32x32x!tt.ptr<f32>, #a>
    %d = tt.dot %l, %w, %c : tensor<32x64xf16, #left> * tensor<64x32xf16, #right> -> tensor<32x32xf32, #mma>
    %e = ttg.convert_layout %d : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #a>
    %s = arith.addf %x, %e : tensor<32x32xf32, #a>
    %r = arith.mulf %s, %s : tensor<32x32xf32, #a>
    %o = ttg.convert_layout %r : tensor<32x32xf32, #a> -> tensor<32x32xf32, #mma>
    tt.return %o : tensor<32x32xf32, #mma>
  }
  // An atomic operation must not be repeated.
  tt.func public @once(%p: tensor<32x64x!tt.ptr<i32>, #a>, %x: tensor<32x64xi32, #a>) -> tensor<32x64xi32, #b> {
    %old = tt.atomic_rmw add, acq_rel, gpu, %p, %x : (tensor<32x64x!tt.ptr<i32>, #a>, tensor<32x64xi32, #a>) -> tensor<32x64xi32, #a>
    %y = ttg.convert_layout %old : tensor<32x64xi32, #a> -> tensor<32x64xi32, #b>
    tt.return %y : tensor<32x64xi32, #b>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @repeat(%p: tensor<32x64x!tt.ptr<f32>, #blocked>, %q: tensor<32x64x!tt.ptr<i32>, #blocked1>, %n: i32) -> tensor<32x64xf32, #blocked1> {
//     %c = arith.constant dense<3> : tensor<32x64xi32, #blocked1>
//     %s = tt.splat %n : i32 -> tensor<32x64xi32, #blocked1>
//     %t = arith.muli %s, %c : tensor<32x64xi32, #blocked1>
//     tt.store %q, %t : tensor<32x64x!tt.ptr<i32>, #blocked1>
//     %x = tt.load %p : tensor<32x64x!tt.ptr<f32>, #blocked>
//     %0 = ttg.convert_layout %x : tensor<32x64xf32, #blocked> -> tensor<32x64xf32, #blocked1>
//     tt.return %0 : tensor<32x64xf32, #blocked1>
//   }
//   tt.func public @narrow(%p: tensor<32x64x!tt.ptr<f16>, #blocked>) -> tensor<32x64xf64, #blocked1> {
//     %x = tt.load %p : tensor<32x64x!tt.ptr<f16>, #blocked>
//     %0 = ttg.convert_layout %x : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #blocked1>
//     %y = arith.extf %0 : tensor<32x64xf16, #blocked1> to tensor<32x64xf64, #blocked1>
//     tt.return %y : tensor<32x64xf64, #blocked1>
//   }
//   tt.func public @load(%p: tensor<32x64x!tt.ptr<f8E5M2>, #blocked>, %w: tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, %c: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
//     %x = tt.load %p : tensor<32x64x!tt.ptr<f8E5M2>, #blocked>
//     %0 = ttg.convert_layout %x : tensor<32x64xf8E5M2, #blocked> -> tensor<32x64xf8E5M2, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
//     %y = tt.fp_to_fp %0 : tensor<32x64xf8E5M2, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
//     %d = tt.dot %y, %w, %c : tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
//     tt.return %d : tensor<32x32xf32, #mma>
//   }
//   tt.func public @conflict(%p: tensor<32x32x!tt.ptr<f32>, #blocked>, %l: tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, %w: tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, %c: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
//     %x = tt.load %p : tensor<32x32x!tt.ptr<f32>, #blocked>
//     %0 = ttg.convert_layout %x : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #mma>
//     %d = tt.dot %l, %w, %c : tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
//     %s = arith.addf %0, %d : tensor<32x32xf32, #mma>
//     %r = arith.mulf %s, %s : tensor<32x32xf32, #mma>
//     tt.return %r : tensor<32x32xf32, #mma>
//   }
//   tt.func public @once(%p: tensor<32x64x!tt.ptr<i32>, #blocked>, %x: tensor<32x64xi32, #blocked>) -> tensor<32x64xi32, #blocked1> {
//     %old = tt.atomic_rmw add, acq_rel, gpu, %p, %x : (tensor<32x64x!tt.ptr<i32>, #blocked>, tensor<32x64xi32, #blocked>) -> tensor<32x64xi32, #blocked>
//     %0 = ttg.convert_layout %old : tensor<32x64xi32, #blocked> -> tensor<32x64xi32, #blocked1>
//     tt.return %0 : tensor<32x64xi32, #blocked1>
//   }
// }
