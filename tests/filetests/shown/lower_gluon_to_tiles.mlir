// RUN: lower-gluon-to-tiles
// A buffer becomes private memory; its transposed view swaps the strides of the addresses.
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cpu:x86_64", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%x: tensor<16x32xf32, #blocked>) -> tensor<32x16xf32, #blocked> {
    %b = ttg.local_alloc %x : (tensor<16x32xf32, #blocked>) -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    ttg.barrier local
    %t = ttg.memdesc_trans %b {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf32, #shared1, #smem, mutable>
    %y = ttg.local_load %t : !ttg.memdesc<32x16xf32, #shared1, #smem, mutable> -> tensor<32x16xf32, #blocked>
    tt.return %y : tensor<32x16xf32, #blocked>
  }
}
// OUTPUT
// module {
//   tt.func public @kernel(%x: tensor<16x32xf32>) -> tensor<32x16xf32> {
//     %0 = ttc.alloc : !ttc.buf<512xf32>
//     %c0_i32 = arith.constant 0 : i32
//     %1 = ttc.address %0[%c0_i32] : !ttc.buf<512xf32>, i32
//     %c32_i64 = arith.constant 32 : i64
//     %c1_i64 = arith.constant 1 : i64
//     %2 = tt.splat %1 : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
//     %3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %4 = arith.extsi %3 : tensor<16xi32> to tensor<16xi64>
//     %5 = tt.splat %c32_i64 : i64 -> tensor<16xi64>
//     %6 = arith.muli %4, %5 : tensor<16xi64>
//     %7 = tt.expand_dims %6 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
//     %8 = tt.broadcast %7 : tensor<16x1xi64> -> tensor<16x32xi64>
//     %9 = tt.addptr %2, %8 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi64>
//     %10 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
//     %11 = arith.extsi %10 : tensor<32xi32> to tensor<32xi64>
//     %12 = tt.expand_dims %11 {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
//     %13 = tt.broadcast %12 : tensor<1x32xi64> -> tensor<16x32xi64>
//     %14 = tt.addptr %9, %13 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi64>
//     tt.store %14, %x : tensor<16x32x!tt.ptr<f32>>
//     %c1_i64_0 = arith.constant 1 : i64
//     %c32_i64_1 = arith.constant 32 : i64
//     %15 = tt.splat %1 : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
//     %16 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
//     %17 = arith.extsi %16 : tensor<32xi32> to tensor<32xi64>
//     %18 = tt.expand_dims %17 {axis = 1 : i32} : tensor<32xi64> -> tensor<32x1xi64>
//     %19 = tt.broadcast %18 : tensor<32x1xi64> -> tensor<32x16xi64>
//     %20 = tt.addptr %15, %19 : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi64>
//     %21 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %22 = arith.extsi %21 : tensor<16xi32> to tensor<16xi64>
//     %23 = tt.splat %c32_i64_1 : i64 -> tensor<16xi64>
//     %24 = arith.muli %22, %23 : tensor<16xi64>
//     %25 = tt.expand_dims %24 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
//     %26 = tt.broadcast %25 : tensor<1x16xi64> -> tensor<32x16xi64>
//     %27 = tt.addptr %20, %26 : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi64>
//     %28 = tt.load %27 : tensor<32x16x!tt.ptr<f32>>
//     tt.return %28 : tensor<32x16xf32>
//   }
// }
