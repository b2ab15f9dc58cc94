// RUN: rewrite-tensor-descriptor-to-pointer, canonicalize, cse
tt.func public @argument(%d: !tt.tensordesc<8x16xf32> {tt.padding = 2 : i32}, %n: i32 {tt.divisibility = 8 : i32}) {
  %v = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
  tt.descriptor_store %d[%n, %n], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
  tt.return
}
tt.func public @made(%x: !tt.ptr<i32>, %n: i32, %s: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n, %n], [%s, %c1] : !tt.ptr<i32>, !tt.tensordesc<8x16xi32>
  %v = tt.descriptor_load %d[%n, %c0] : !tt.tensordesc<8x16xi32> -> tensor<8x16xi32>
  tt.descriptor_store %d[%c0, %c0], %v : !tt.tensordesc<8x16xi32>, tensor<8x16xi32>
  tt.return
}
tt.func private @callee(%d: !tt.tensordesc<4xf32>, %i: i32) -> tensor<4xf32> attributes {noinline = true} {
  %v = tt.descriptor_load %d[%i] : !tt.tensordesc<4xf32> -> tensor<4xf32>
  tt.return %v : tensor<4xf32>
}
tt.func public @caller(%x: !tt.ptr<f32>, %n: i32, %p: tensor<4x!tt.ptr<f32>>) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n], [%c1] : !tt.ptr<f32>, !tt.tensordesc<4xf32>
  %v = tt.call @callee(%d, %n) : (!tt.tensordesc<4xf32>, i32) -> tensor<4xf32>
  tt.store %p, %v : tensor<4x!tt.ptr<f32>>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @argument(%d: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %d_shape_0: i64, %d_shape_1: i64, %d_stride_0: i64 {tt.divisibility = 4 : i32}, %d_stride_1: i64, %n: i32 {tt.divisibility = 8 : i32}) attributes {tritium.expanded_parameters} {
//     %c0_i64 = arith.constant 0 : i64
//     %c8_i64 = arith.constant 8 : i64
//     %c16_i64 = arith.constant 16 : i64
//     %cst = arith.constant dense<0x7FC00000> : tensor<8x16xf32>
//     %0 = arith.extsi %n : i32 to i64
//     %1 = arith.subi %c0_i64, %0 : i64
//     %2 = arith.maxsi %1, %c0_i64 : i64
//     %3 = arith.minsi %2, %c8_i64 : i64
//     %4 = arith.trunci %3 : i64 to i32
//     %5 = arith.subi %d_shape_0, %0 : i64
//     %6 = arith.maxsi %5, %c0_i64 : i64
//     %7 = arith.minsi %6, %c8_i64 : i64
//     %8 = arith.trunci %7 : i64 to i32
//     %9 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %10 = tt.splat %4 : i32 -> tensor<8xi32>
//     %11 = arith.cmpi sge, %9, %10 : tensor<8xi32>
//     %12 = tt.splat %8 : i32 -> tensor<8xi32>
//     %13 = arith.cmpi slt, %9, %12 : tensor<8xi32>
//     %14 = arith.andi %11, %13 : tensor<8xi1>
//     %15 = tt.expand_dims %14 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
//     %16 = tt.broadcast %15 : tensor<8x1xi1> -> tensor<8x16xi1>
//     %17 = arith.minsi %2, %c16_i64 : i64
//     %18 = arith.trunci %17 : i64 to i32
//     %19 = arith.subi %d_shape_1, %0 : i64
//     %20 = arith.maxsi %19, %c0_i64 : i64
//     %21 = arith.minsi %20, %c16_i64 : i64
//     %22 = arith.trunci %21 : i64 to i32
//     %23 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %24 = tt.splat %18 : i32 -> tensor<16xi32>
//     %25 = arith.cmpi sge, %23, %24 : tensor<16xi32>
//     %26 = tt.splat %22 : i32 -> tensor<16xi32>
//     %27 = arith.cmpi slt, %23, %26 : tensor<16xi32>
//     %28 = arith.andi %25, %27 : tensor<16xi1>
//     %29 = tt.expand_dims %28 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
//     %30 = tt.broadcast %29 : tensor<1x16xi1> -> tensor<8x16xi1>
//     %31 = arith.andi %16, %30 : tensor<8x16xi1>
//     %32 = arith.muli %0, %d_stride_0 : i64
//     %33 = arith.addi %32, %0 : i64
//     %34 = tt.addptr %d, %33 : !tt.ptr<f32>, i64
//     %35 = tt.splat %34 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
//     %36 = arith.extsi %9 : tensor<8xi32> to tensor<8xi64>
//     %37 = tt.splat %d_stride_0 : i64 -> tensor<8xi64>
//     %38 = arith.muli %36, %37 : tensor<8xi64>
//     %39 = tt.expand_dims %38 {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
//     %40 = tt.broadcast %39 : tensor<8x1xi64> -> tensor<8x16xi64>
//     %41 = tt.addptr %35, %40 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi64>
//     %42 = arith.extsi %23 : tensor<16xi32> to tensor<16xi64>
//     %43 = tt.expand_dims %42 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
//     %44 = tt.broadcast %43 : tensor<1x16xi64> -> tensor<8x16xi64>
//     %45 = tt.addptr %41, %44 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi64>
//     %v = tt.load %45, %31, %cst : tensor<8x16x!tt.ptr<f32>>
//     tt.store %45, %v, %31 : tensor<8x16x!tt.ptr<f32>>
//     tt.return
//   }
//   tt.func public @made(%x: !tt.ptr<i32>, %n: i32, %s: i64) {
//     %c16_i64 = arith.constant 16 : i64
//     %c0_i64 = arith.constant 0 : i64
//     %cst = arith.constant dense<0> : tensor<8x16xi32>
//     %c8_i64 = arith.constant 8 : i64
//     %0 = arith.extsi %n : i32 to i64
//     %1 = arith.subi %c0_i64, %0 : i64
//     %2 = arith.maxsi %1, %c0_i64 : i64
//     %3 = arith.minsi %2, %c8_i64 : i64
//     %4 = arith.trunci %3 : i64 to i32
//     %5 = arith.subi %0, %0 : i64
//     %6 = arith.maxsi %5, %c0_i64 : i64
//     %7 = arith.minsi %6, %c8_i64 : i64
//     %8 = arith.trunci %7 : i64 to i32
//     %9 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %10 = tt.splat %4 : i32 -> tensor<8xi32>
//     %11 = arith.cmpi sge, %9, %10 : tensor<8xi32>
//     %12 = tt.splat %8 : i32 -> tensor<8xi32>
//     %13 = arith.cmpi slt, %9, %12 : tensor<8xi32>
//     %14 = arith.andi %11, %13 : tensor<8xi1>
//     %15 = tt.expand_dims %14 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
//     %16 = tt.broadcast %15 : tensor<8x1xi1> -> tensor<8x16xi1>
//     %17 = arith.maxsi %0, %c0_i64 : i64
//     %18 = arith.minsi %17, %c16_i64 : i64
//     %19 = arith.trunci %18 : i64 to i32
//     %20 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %21 = tt.splat %19 : i32 -> tensor<16xi32>
//     %22 = arith.cmpi slt, %20, %21 : tensor<16xi32>
//     %23 = tt.expand_dims %22 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
//     %24 = tt.broadcast %23 : tensor<1x16xi1> -> tensor<8x16xi1>
//     %25 = arith.andi %16, %24 : tensor<8x16xi1>
//     %26 = arith.muli %0, %s : i64
//     %27 = tt.addptr %x, %26 : !tt.ptr<i32>, i64
//     %28 = tt.splat %27 : !tt.ptr<i32> -> tensor<8x16x!tt.ptr<i32>>
//     %29 = arith.extsi %9 : tensor<8xi32> to tensor<8xi64>
//     %30 = tt.splat %s : i64 -> tensor<8xi64>
//     %31 = arith.muli %29, %30 : tensor<8xi64>
//     %32 = tt.expand_dims %31 {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
//     %33 = tt.broadcast %32 : tensor<8x1xi64> -> tensor<8x16xi64>
//     %34 = tt.addptr %28, %33 : tensor<8x16x!tt.ptr<i32>>, tensor<8x16xi64>
//     %35 = arith.extsi %20 : tensor<16xi32> to tensor<16xi64>
//     %36 = tt.expand_dims %35 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
//     %37 = tt.broadcast %36 : tensor<1x16xi64> -> tensor<8x16xi64>
//     %38 = tt.addptr %34, %37 : tensor<8x16x!tt.ptr<i32>>, tensor<8x16xi64>
//     %v = tt.load %38, %25, %cst : tensor<8x16x!tt.ptr<i32>>
//     %39 = tt.splat %x : !tt.ptr<i32> -> tensor<8x16x!tt.ptr<i32>>
//     %40 = tt.addptr %39, %33 : tensor<8x16x!tt.ptr<i32>>, tensor<8x16xi64>
//     %41 = tt.addptr %40, %37 : tensor<8x16x!tt.ptr<i32>>, tensor<8x16xi64>
//     %42 = arith.minsi %17, %c8_i64 : i64
//     %43 = arith.trunci %42 : i64 to i32
//     %44 = tt.splat %43 : i32 -> tensor<8xi32>
//     %45 = arith.cmpi slt, %9, %44 : tensor<8xi32>
//     %46 = tt.expand_dims %45 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
//     %47 = tt.broadcast %46 : tensor<8x1xi1> -> tensor<8x16xi1>
//     %48 = arith.andi %47, %24 : tensor<8x16xi1>
//     tt.store %41, %v, %48 : tensor<8x16x!tt.ptr<i32>>
//     tt.return
//   }
//   tt.func private @callee(%d: !tt.ptr<f32>, %d_shape_0: i64, %d_stride_0: i64, %d_nan: i1, %i: i32) -> tensor<4xf32> attributes {noinline = true} {
//     %cst = arith.constant dense<0x7FC00000> : tensor<4xf32>
//     %cst_0 = arith.constant dense<0.000000e+00> : tensor<4xf32>
//     %c0_i64 = arith.constant 0 : i64
//     %c4_i64 = arith.constant 4 : i64
//     %0 = arith.extsi %i : i32 to i64
//     %1 = arith.select %d_nan, %cst, %cst_0 : tensor<4xf32>
//     %2 = arith.subi %c0_i64, %0 : i64
//     %3 = arith.maxsi %2, %c0_i64 : i64
//     %4 = arith.minsi %3, %c4_i64 : i64
//     %5 = arith.trunci %4 : i64 to i32
//     %6 = arith.subi %d_shape_0, %0 : i64
//     %7 = arith.maxsi %6, %c0_i64 : i64
//     %8 = arith.minsi %7, %c4_i64 : i64
//     %9 = arith.trunci %8 : i64 to i32
//     %10 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
//     %11 = tt.splat %5 : i32 -> tensor<4xi32>
//     %12 = arith.cmpi sge, %10, %11 : tensor<4xi32>
//     %13 = tt.splat %9 : i32 -> tensor<4xi32>
//     %14 = arith.cmpi slt, %10, %13 : tensor<4xi32>
//     %15 = arith.andi %12, %14 : tensor<4xi1>
//     %16 = arith.muli %0, %d_stride_0 : i64
//     %17 = tt.addptr %d, %16 : !tt.ptr<f32>, i64
//     %18 = tt.splat %17 : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
//     %19 = arith.extsi %10 : tensor<4xi32> to tensor<4xi64>
//     %20 = tt.splat %d_stride_0 : i64 -> tensor<4xi64>
//     %21 = arith.muli %19, %20 : tensor<4xi64>
//     %22 = tt.addptr %18, %21 : tensor<4x!tt.ptr<f32>>, tensor<4xi64>
//     %v = tt.load %22, %15, %1 : tensor<4x!tt.ptr<f32>>
//     tt.return %v : tensor<4xf32>
//   }
//   tt.func public @caller(%x: !tt.ptr<f32>, %n: i32, %p: tensor<4x!tt.ptr<f32>>) {
//     %c1 = arith.constant 1 : i64
//     %false = arith.constant false
//     %0 = arith.extsi %n : i32 to i64
//     %v = tt.call @callee(%x, %0, %c1, %false, %n) : (!tt.ptr<f32>, i64, i64, i1, i32) -> tensor<4xf32>
//     tt.store %p, %v : tensor<4x!tt.ptr<f32>>
//     tt.return
//   }
// }
