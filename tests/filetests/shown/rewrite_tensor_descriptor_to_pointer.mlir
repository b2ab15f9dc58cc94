// RUN: rewrite-tensor-descriptor-to-pointer, canonicalize
// A descriptor becomes its parts; the load gets a tile of pointers, and a mask of the elements in bounds.
tt.func public @load(%base: !tt.ptr<f32>, %n: i32, %at: i32) -> tensor<64xf32> {
  %c1_i64 = arith.constant 1 : i64
  %desc = tt.make_tensor_descriptor %base, [%n], [%c1_i64] : !tt.ptr<f32>, !tt.tensordesc<tensor<64xf32>>
  %tile = tt.descriptor_load %desc[%at] : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
  tt.return %tile : tensor<64xf32>
}
// OUTPUT
// module {
//   tt.func public @load(%base: !tt.ptr<f32>, %n: i32, %at: i32) -> tensor<64xf32> {
//     %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
//     %c0_i64 = arith.constant 0 : i64
//     %c64_i64 = arith.constant 64 : i64
//     %0 = arith.extsi %n : i32 to i64
//     %1 = arith.extsi %at : i32 to i64
//     %2 = arith.subi %c0_i64, %1 : i64
//     %3 = arith.maxsi %2, %c0_i64 : i64
//     %4 = arith.minsi %3, %c64_i64 : i64
//     %5 = arith.trunci %4 : i64 to i32
//     %6 = arith.subi %0, %1 : i64
//     %7 = arith.maxsi %6, %c0_i64 : i64
//     %8 = arith.minsi %7, %c64_i64 : i64
//     %9 = arith.trunci %8 : i64 to i32
//     %10 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %11 = tt.splat %5 : i32 -> tensor<64xi32>
//     %12 = arith.cmpi sge, %10, %11 : tensor<64xi32>
//     %13 = tt.splat %9 : i32 -> tensor<64xi32>
//     %14 = arith.cmpi slt, %10, %13 : tensor<64xi32>
//     %15 = arith.andi %12, %14 : tensor<64xi1>
//     %16 = tt.addptr %base, %1 : !tt.ptr<f32>, i64
//     %17 = tt.splat %16 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
//     %18 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %19 = arith.extsi %18 : tensor<64xi32> to tensor<64xi64>
//     %20 = tt.addptr %17, %19 : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
//     %tile = tt.load %20, %15, %cst : tensor<64x!tt.ptr<f32>>
//     tt.return %tile : tensor<64xf32>
//   }
// }
