// RUN: rewrite-tensor-pointer, canonicalize
// A block pointer becomes a pointer and offsets; the load gets a tile of pointers, and a mask for its checked dimension.
tt.func public @load(%base: !tt.ptr<f32>, %n: i64, %at: i32) -> tensor<64xf32> {
  %c1_i64 = arith.constant 1 : i64
  %block = tt.make_tensor_ptr %base, [%n], [%c1_i64], [%at] {order = array<i32: 0>} : !tt.ptr<tensor<64xf32>>
  %tile = tt.load %block {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64xf32>>
  tt.return %tile : tensor<64xf32>
}
// OUTPUT
// module {
//   tt.func public @load(%base: !tt.ptr<f32>, %n: i64, %at: i32) -> tensor<64xf32> {
//     %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
//     %c0_i64 = arith.constant 0 : i64
//     %c64_i64 = arith.constant 64 : i64
//     %0 = arith.extsi %at : i32 to i64
//     %1 = arith.subi %c0_i64, %0 : i64
//     %2 = arith.maxsi %1, %c0_i64 : i64
//     %3 = arith.minsi %2, %c64_i64 : i64
//     %4 = arith.trunci %3 : i64 to i32
//     %5 = arith.subi %n, %0 : i64
//     %6 = arith.maxsi %5, %c0_i64 : i64
//     %7 = arith.minsi %6, %c64_i64 : i64
//     %8 = arith.trunci %7 : i64 to i32
//     %9 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %10 = tt.splat %4 : i32 -> tensor<64xi32>
//     %11 = arith.cmpi sge, %9, %10 : tensor<64xi32>
//     %12 = tt.splat %8 : i32 -> tensor<64xi32>
//     %13 = arith.cmpi slt, %9, %12 : tensor<64xi32>
//     %14 = arith.andi %11, %13 : tensor<64xi1>
//     %15 = tt.addptr %base, %0 : !tt.ptr<f32>, i64
//     %16 = tt.splat %15 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
//     %17 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %18 = arith.extsi %17 : tensor<64xi32> to tensor<64xi64>
//     %19 = tt.addptr %16, %18 : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
//     %tile = tt.load %19, %14, %cst : tensor<64x!tt.ptr<f32>>
//     tt.return %tile : tensor<64xf32>
//   }
// }
