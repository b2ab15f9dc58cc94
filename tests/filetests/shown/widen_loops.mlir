// RUN: widen-loops{num-stages=5}
// Attention over 32 keys at a time: two iterations are one over 64 keys; an odd count leaves one iteration as it is.
tt.func public @attend(%q: tensor<64x64xf16>, %keys: !tt.ptr<f16>, %stride: i32, %out: tensor<64x64x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
  %zeros = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %strides = tt.splat %stride : i32 -> tensor<32x1xi32>
  %starts = arith.muli %rows, %strides : tensor<32x1xi32>
  %base = tt.splat %keys : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
  %first = tt.addptr %base, %starts : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
  %wide = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %columns = tt.expand_dims %wide {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %spread = tt.broadcast %first : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
  %offsets = tt.broadcast %columns : tensor<1x64xi32> -> tensor<32x64xi32>
  %start = tt.addptr %spread, %offsets : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %step = arith.muli %stride, %c32 : i32
  %steps = tt.splat %step : i32 -> tensor<32x64xi32>
  %sums:2 = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zeros, %p = %start) -> (tensor<64x64xf32>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    %k = tt.load %p : tensor<32x64x!tt.ptr<f16>>
    %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<32x64xf16> -> tensor<64x32xf16>
    %s = tt.dot %q, %kt, %none : tensor<64x64xf16> * tensor<64x32xf16> -> tensor<64x32xf32>
    %e = math.exp2 %s : tensor<64x32xf32>
    %w = arith.truncf %e : tensor<64x32xf32> to tensor<64x32xf16>
    %next = tt.dot %w, %k, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %moved = tt.addptr %p, %steps : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %next, %moved : tensor<64x64xf32>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.store %out, %sums#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @attend(%q: tensor<64x64xf16>, %keys: !tt.ptr<f16>, %stride: i32, %out: tensor<64x64x!tt.ptr<f32>>, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %c32 = arith.constant 32 : i32
//     %none = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
//     %zeros = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
//     %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
//     %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
//     %strides = tt.splat %stride : i32 -> tensor<32x1xi32>
//     %starts = arith.muli %rows, %strides : tensor<32x1xi32>
//     %base = tt.splat %keys : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
//     %first = tt.addptr %base, %starts : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
//     %wide = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %columns = tt.expand_dims %wide {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
//     %spread = tt.broadcast %first : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
//     %offsets = tt.broadcast %columns : tensor<1x64xi32> -> tensor<32x64xi32>
//     %start = tt.addptr %spread, %offsets : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
//     %step = arith.muli %stride, %c32 : i32
//     %steps = tt.splat %step : i32 -> tensor<32x64xi32>
//     %0 = arith.maxsi %n, %c0 : i32
//     %1 = arith.subi %0, %c0 : i32
//     %2 = arith.ceildivsi %1, %c32 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %3 = arith.divsi %2, %c2_i32 : i32
//     %c2_i32_0 = arith.constant 2 : i32
//     %4 = arith.muli %3, %c2_i32_0 : i32
//     %5 = arith.muli %4, %c32 : i32
//     %6 = arith.addi %c0, %5 : i32
//     %7 = tt.splat %keys : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
//     %8 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %cst = arith.constant dense<32> : tensor<64xi32>
//     %9 = arith.remui %8, %cst : tensor<64xi32>
//     %10 = tt.expand_dims %9 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
//     %11 = tt.splat %stride : i32 -> tensor<64x1xi32>
//     %12 = arith.muli %10, %11 : tensor<64x1xi32>
//     %13 = tt.addptr %7, %12 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
//     %14 = tt.broadcast %13 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
//     %15 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
//     %16 = tt.addptr %14, %15 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
//     %17 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %cst_1 = arith.constant dense<32> : tensor<64xi32>
//     %18 = arith.divui %17, %cst_1 : tensor<64xi32>
//     %19 = tt.expand_dims %18 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
//     %20 = tt.broadcast %19 : tensor<64x1xi32> -> tensor<64x64xi32>
//     %21 = arith.extsi %20 : tensor<64x64xi32> to tensor<64x64xi64>
//     %22 = arith.extsi %step : i32 to i64
//     %23 = tt.splat %22 : i64 -> tensor<64x64xi64>
//     %24 = arith.muli %21, %23 : tensor<64x64xi64>
//     %25 = tt.addptr %16, %24 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
//     %26 = arith.muli %c32, %c2_i32_0 : i32
//     %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
//     %27 = arith.extsi %step : i32 to i64
//     %28 = arith.addi %27, %27 : i64
//     %29:2 = scf.for %i = %c0 to %6 step %26 iter_args(%acc = %zeros, %p = %25) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>)  : i32 {
//       %31 = tt.load %p : tensor<64x64x!tt.ptr<f16>>
//       %32 = tt.trans %31 {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
//       %33 = tt.dot %q, %32, %cst_2 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
//       %34 = math.exp2 %33 : tensor<64x64xf32>
//       %35 = arith.truncf %34 : tensor<64x64xf32> to tensor<64x64xf16>
//       %36 = tt.dot %35, %31, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
//       %37 = tt.splat %28 : i64 -> tensor<64x64xi64>
//       %38 = tt.addptr %p, %37 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
//       scf.yield %36, %38 : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>
//     } {tt.num_stages = 3 : i32}
//     %30 = arith.cmpi slt, %6, %n : i32
//     %sums = scf.if %30 -> (tensor<64x64xf32>) {
//       %31 = arith.extsi %3 : i32 to i64
//       %c2_i64 = arith.constant 2 : i64
//       %32 = arith.muli %31, %c2_i64 : i64
//       %33 = arith.extsi %step : i32 to i64
//       %34 = arith.muli %32, %33 : i64
//       %35 = tt.splat %34 : i64 -> tensor<32x64xi64>
//       %36 = tt.addptr %start, %35 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi64>
//       %k = tt.load %36 : tensor<32x64x!tt.ptr<f16>>
//       %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<32x64xf16> -> tensor<64x32xf16>
//       %s = tt.dot %q, %kt, %none : tensor<64x64xf16> * tensor<64x32xf16> -> tensor<64x32xf32>
//       %e = math.exp2 %s : tensor<64x32xf32>
//       %w = arith.truncf %e : tensor<64x32xf32> to tensor<64x32xf16>
//       %next = tt.dot %w, %k, %29#0 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
//       %moved = tt.addptr %36, %steps : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
//       scf.yield %next : tensor<64x64xf32>
//     } else {
//       scf.yield %29#0 : tensor<64x64xf32>
//     }
//     tt.store %out, %sums : tensor<64x64x!tt.ptr<f32>>
//     tt.return
//   }
// }
