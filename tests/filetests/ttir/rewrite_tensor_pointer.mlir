// RUN: rewrite-tensor-pointer, canonicalize, cse
tt.func public @loop(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>, %n: i32, %m: i64, %s: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %p = tt.make_tensor_ptr %x, [%m, %s], [%s, %c1], [%c0, %c0] {order = array<i32: 1, 0>} : !tt.ptr<tensor<8x16xf32>>
  %r:2 = scf.for %i = %c0 to %n step %c16 iter_args(%q = %p, %a = %zero) -> (!tt.ptr<tensor<8x16xf32>>, tensor<8x16xf32>) : i32 {
    %v = tt.load %q {boundaryCheck = array<i32: 1>, padding = 2 : i32} : !tt.ptr<tensor<8x16xf32>>
    %b = arith.addf %a, %v : tensor<8x16xf32>
    %q2 = tt.advance %q, [%c0, %c16] : !tt.ptr<tensor<8x16xf32>>
    scf.yield %q2, %b : !tt.ptr<tensor<8x16xf32>>, tensor<8x16xf32>
  }
  %po = tt.make_tensor_ptr %o, [%m, %s], [%s, %c1], [%n, %c0] {order = array<i32: 1, 0>} : !tt.ptr<tensor<8x16xf32>>
  tt.store %po, %r#1 : !tt.ptr<tensor<8x16xf32>>
  tt.return
}
tt.func public @branch(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1, %n: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%n], [%c1], [%c0] {order = array<i32: 0>} : !tt.ptr<tensor<16xf32>>
  %r = scf.if %c -> (!tt.ptr<tensor<16xf32>>) {
    %q = tt.make_tensor_ptr %y, [%n], [%c1], [%c0] {order = array<i32: 0>} : !tt.ptr<tensor<16xf32>>
    scf.yield %q : !tt.ptr<tensor<16xf32>>
  } else {
    scf.yield %p : !tt.ptr<tensor<16xf32>>
  }
  %v = tt.load %r {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16xf32>>
  tt.store %r, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16xf32>>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @loop(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>, %n: i32, %m: i64, %s: i64) {
//     %c0 = arith.constant 0 : i32
//     %c16 = arith.constant 16 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<8x16xf32>
//     %c0_i64 = arith.constant 0 : i64
//     %cst = arith.constant dense<0x7FC00000> : tensor<8x16xf32>
//     %c16_i64 = arith.constant 16 : i64
//     %r_offset_1:2 = scf.for %i = %c0 to %n step %c16 iter_args(%q_offset_1 = %c0_i64, %a = %zero) -> (i64, tensor<8x16xf32>)  : i32 {
//       %16 = arith.subi %c0_i64, %q_offset_1 : i64
//       %17 = arith.maxsi %16, %c0_i64 : i64
//       %18 = arith.minsi %17, %c16_i64 : i64
//       %19 = arith.trunci %18 : i64 to i32
//       %20 = arith.subi %s, %q_offset_1 : i64
//       %21 = arith.maxsi %20, %c0_i64 : i64
//       %22 = arith.minsi %21, %c16_i64 : i64
//       %23 = arith.trunci %22 : i64 to i32
//       %24 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//       %25 = tt.splat %19 : i32 -> tensor<16xi32>
//       %26 = arith.cmpi sge, %24, %25 : tensor<16xi32>
//       %27 = tt.splat %23 : i32 -> tensor<16xi32>
//       %28 = arith.cmpi slt, %24, %27 : tensor<16xi32>
//       %29 = arith.andi %26, %28 : tensor<16xi1>
//       %30 = tt.expand_dims %29 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
//       %31 = tt.broadcast %30 : tensor<1x16xi1> -> tensor<8x16xi1>
//       %32 = tt.addptr %x, %q_offset_1 : !tt.ptr<f32>, i64
//       %33 = tt.splat %32 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
//       %34 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//       %35 = arith.extsi %34 : tensor<8xi32> to tensor<8xi64>
//       %36 = tt.splat %s : i64 -> tensor<8xi64>
//       %37 = arith.muli %35, %36 : tensor<8xi64>
//       %38 = tt.expand_dims %37 {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
//       %39 = tt.broadcast %38 : tensor<8x1xi64> -> tensor<8x16xi64>
//       %40 = tt.addptr %33, %39 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi64>
//       %41 = arith.extsi %24 : tensor<16xi32> to tensor<16xi64>
//       %42 = tt.expand_dims %41 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
//       %43 = tt.broadcast %42 : tensor<1x16xi64> -> tensor<8x16xi64>
//       %44 = tt.addptr %40, %43 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi64>
//       %v = tt.load %44, %31, %cst : tensor<8x16x!tt.ptr<f32>>
//       %b = arith.addf %a, %v : tensor<8x16xf32>
//       %45 = arith.addi %q_offset_1, %c16_i64 : i64
//       scf.yield %45, %b : i64, tensor<8x16xf32>
//     }
//     %0 = arith.extsi %n : i32 to i64
//     %1 = arith.muli %0, %s : i64
//     %2 = tt.addptr %o, %1 : !tt.ptr<f32>, i64
//     %3 = tt.splat %2 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
//     %4 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %5 = arith.extsi %4 : tensor<8xi32> to tensor<8xi64>
//     %6 = tt.splat %s : i64 -> tensor<8xi64>
//     %7 = arith.muli %5, %6 : tensor<8xi64>
//     %8 = tt.expand_dims %7 {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
//     %9 = tt.broadcast %8 : tensor<8x1xi64> -> tensor<8x16xi64>
//     %10 = tt.addptr %3, %9 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi64>
//     %11 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %12 = arith.extsi %11 : tensor<16xi32> to tensor<16xi64>
//     %13 = tt.expand_dims %12 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
//     %14 = tt.broadcast %13 : tensor<1x16xi64> -> tensor<8x16xi64>
//     %15 = tt.addptr %10, %14 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi64>
//     tt.store %15, %r_offset_1#1 : tensor<8x16x!tt.ptr<f32>>
//     tt.return
//   }
//   tt.func public @branch(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1, %n: i64) {
//     %c0_i64 = arith.constant 0 : i64
//     %cst = arith.constant dense<0.000000e+00> : tensor<16xf32>
//     %c16_i64 = arith.constant 16 : i64
//     %r = arith.select %c, %y, %x : !tt.ptr<f32>
//     %0 = arith.maxsi %n, %c0_i64 : i64
//     %1 = arith.minsi %0, %c16_i64 : i64
//     %2 = arith.trunci %1 : i64 to i32
//     %3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %4 = tt.splat %2 : i32 -> tensor<16xi32>
//     %5 = arith.cmpi slt, %3, %4 : tensor<16xi32>
//     %6 = tt.splat %r : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
//     %7 = arith.extsi %3 : tensor<16xi32> to tensor<16xi64>
//     %8 = tt.addptr %6, %7 : tensor<16x!tt.ptr<f32>>, tensor<16xi64>
//     %v = tt.load %8, %5, %cst : tensor<16x!tt.ptr<f32>>
//     tt.store %8, %v, %5 : tensor<16x!tt.ptr<f32>>
//     tt.return
//   }
// }
