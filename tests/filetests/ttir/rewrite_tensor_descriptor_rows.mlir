// RUN: rewrite-tensor-descriptor-to-pointer, canonicalize, cse
// Rows by number, and a combining store; blocks with a sign say which minimum is meant.
tt.func public @rows(%x: !tt.ptr<f32>, %n: i32, %s: i64, %rows: tensor<8xi32>, %j: i32) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n, %n], [%s, %one] {padding = 2 : i32} : <f32>, <1x8xf32>
  %v = tt.descriptor_gather %d[%rows, %j] : (!tt.tensordesc<1x8xf32>, tensor<8xi32>, i32) -> tensor<8x8xf32>
  tt.descriptor_scatter %d[%rows, %j], %v : !tt.tensordesc<1x8xf32>, tensor<8xi32>, i32, tensor<8x8xf32>
  tt.return
}
tt.func public @reduce(%x: !tt.ptr<i32>, %n: i32, %i: i32, %v: tensor<4xi32>) {
  %one = arith.constant 1 : i64
  %s = tt.make_tensor_descriptor %x, [%n], [%one] : <i32>, <4xsi32>
  %u = tt.make_tensor_descriptor %x, [%n], [%one] : <i32>, <4xui32>
  tt.descriptor_reduce min, %s[%i], %v : !tt.tensordesc<4xsi32>, tensor<4xi32>
  tt.descriptor_reduce min, %u[%i], %v : !tt.tensordesc<4xui32>, tensor<4xi32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @rows(%x: !tt.ptr<f32>, %n: i32, %s: i64, %rows: tensor<8xi32>, %j: i32) {
//     %cst = arith.constant dense<0x7FC00000> : tensor<8x8xf32>
//     %cst_0 = arith.constant dense<0> : tensor<8xi32>
//     %c0_i64 = arith.constant 0 : i64
//     %c8_i64 = arith.constant 8 : i64
//     %0 = arith.extsi %n : i32 to i64
//     %1 = arith.extsi %j : i32 to i64
//     %2 = arith.extsi %rows : tensor<8xi32> to tensor<8xi64>
//     %3 = arith.cmpi sge, %rows, %cst_0 : tensor<8xi32>
//     %4 = tt.splat %n : i32 -> tensor<8xi32>
//     %5 = arith.cmpi slt, %rows, %4 : tensor<8xi32>
//     %6 = arith.andi %3, %5 : tensor<8xi1>
//     %7 = tt.expand_dims %6 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
//     %8 = tt.broadcast %7 : tensor<8x1xi1> -> tensor<8x8xi1>
//     %9 = arith.subi %c0_i64, %1 : i64
//     %10 = arith.maxsi %9, %c0_i64 : i64
//     %11 = arith.minsi %10, %c8_i64 : i64
//     %12 = arith.trunci %11 : i64 to i32
//     %13 = arith.subi %0, %1 : i64
//     %14 = arith.maxsi %13, %c0_i64 : i64
//     %15 = arith.minsi %14, %c8_i64 : i64
//     %16 = arith.trunci %15 : i64 to i32
//     %17 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %18 = tt.splat %12 : i32 -> tensor<8xi32>
//     %19 = arith.cmpi sge, %17, %18 : tensor<8xi32>
//     %20 = tt.splat %16 : i32 -> tensor<8xi32>
//     %21 = arith.cmpi slt, %17, %20 : tensor<8xi32>
//     %22 = arith.andi %19, %21 : tensor<8xi1>
//     %23 = tt.expand_dims %22 {axis = 0 : i32} : tensor<8xi1> -> tensor<1x8xi1>
//     %24 = tt.broadcast %23 : tensor<1x8xi1> -> tensor<8x8xi1>
//     %25 = arith.andi %8, %24 : tensor<8x8xi1>
//     %26 = tt.splat %s : i64 -> tensor<8xi64>
//     %27 = arith.muli %2, %26 : tensor<8xi64>
//     %28 = tt.addptr %x, %1 : !tt.ptr<f32>, i64
//     %29 = tt.splat %28 : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
//     %30 = tt.expand_dims %27 {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
//     %31 = tt.broadcast %30 : tensor<8x1xi64> -> tensor<8x8xi64>
//     %32 = tt.addptr %29, %31 : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi64>
//     %33 = arith.extsi %17 : tensor<8xi32> to tensor<8xi64>
//     %34 = tt.expand_dims %33 {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>
//     %35 = tt.broadcast %34 : tensor<1x8xi64> -> tensor<8x8xi64>
//     %36 = tt.addptr %32, %35 : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi64>
//     %v = tt.load %36, %25, %cst : tensor<8x8x!tt.ptr<f32>>
//     tt.store %36, %v, %25 : tensor<8x8x!tt.ptr<f32>>
//     tt.return
//   }
//   tt.func public @reduce(%x: !tt.ptr<i32>, %n: i32, %i: i32, %v: tensor<4xi32>) {
//     %c0_i64 = arith.constant 0 : i64
//     %c4_i64 = arith.constant 4 : i64
//     %0 = arith.extsi %n : i32 to i64
//     %1 = arith.extsi %i : i32 to i64
//     %2 = arith.subi %c0_i64, %1 : i64
//     %3 = arith.maxsi %2, %c0_i64 : i64
//     %4 = arith.minsi %3, %c4_i64 : i64
//     %5 = arith.trunci %4 : i64 to i32
//     %6 = arith.subi %0, %1 : i64
//     %7 = arith.maxsi %6, %c0_i64 : i64
//     %8 = arith.minsi %7, %c4_i64 : i64
//     %9 = arith.trunci %8 : i64 to i32
//     %10 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
//     %11 = tt.splat %5 : i32 -> tensor<4xi32>
//     %12 = arith.cmpi sge, %10, %11 : tensor<4xi32>
//     %13 = tt.splat %9 : i32 -> tensor<4xi32>
//     %14 = arith.cmpi slt, %10, %13 : tensor<4xi32>
//     %15 = arith.andi %12, %14 : tensor<4xi1>
//     %16 = tt.addptr %x, %1 : !tt.ptr<i32>, i64
//     %17 = tt.splat %16 : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
//     %18 = arith.extsi %10 : tensor<4xi32> to tensor<4xi64>
//     %19 = tt.addptr %17, %18 : tensor<4x!tt.ptr<i32>>, tensor<4xi64>
//     %20 = tt.atomic_rmw min, release, gpu, %19, %v, %15 : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
//     %21 = tt.atomic_rmw umin, release, gpu, %19, %v, %15 : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
//     tt.return
//   }
// }
