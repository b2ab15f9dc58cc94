// RUN: convert-triton-to-tritongpu
// The result of a reduction has a slice layout; arithmetic uses the default layout again. Loops carry default layouts.
tt.func public @rows(%p: tensor<16x64x!tt.ptr<f32>>, %out: tensor<16x!tt.ptr<f32>>, %n: i32) {
  %zero = arith.constant dense<0.000000e+00> : tensor<16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16xf32>)  : i32 {
    %x = tt.load %p : tensor<16x64x!tt.ptr<f32>>
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<16x64xf32>) -> tensor<16xf32>
    %next = arith.addf %acc, %s : tensor<16xf32>
    scf.yield %next : tensor<16xf32>
  }
  tt.store %out, %sum : tensor<16x!tt.ptr<f32>>
  tt.return
}
// Operands of dots have dot operand layouts, converted at the dot.
tt.func public @product(%a: tensor<32x16xf16>, %b: tensor<16x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c : tensor<32x16xf16> * tensor<16x32xf16> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
// Both parts of a split are in one thread; a transpose transposes the layout.
tt.func public @shapes(%x: tensor<64xf32>, %y: tensor<8x32xf32>) -> (tensor<64xf32>, tensor<32x8xf32>) {
  %both = tt.join %x, %x : tensor<64xf32> -> tensor<64x2xf32>
  %left, %right = tt.split %both : tensor<64x2xf32> -> tensor<64xf32>
  %sum = arith.addf %left, %right : tensor<64xf32>
  %turned = tt.trans %y {order = array<i32: 1, 0>} : tensor<8x32xf32> -> tensor<32x8xf32>
  tt.return %sum, %turned : tensor<64xf32>, tensor<32x8xf32>
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked4 = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked6 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked7 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked8 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @rows(%p: tensor<16x64x!tt.ptr<f32>, #blocked>, %out: tensor<16x!tt.ptr<f32>, #blocked1>, %n: i32) {
//     %zero = arith.constant dense<0.000000e+00> : tensor<16xf32, #blocked1>
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16xf32, #blocked1>)  : i32 {
//       %x = tt.load %p : tensor<16x64x!tt.ptr<f32>, #blocked>
//       %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
//       ^bb0(%a: f32, %b: f32):
//         %c = arith.addf %a, %b : f32
//         tt.reduce.return %c : f32
//       }) : (tensor<16x64xf32, #blocked>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//       %0 = ttg.convert_layout %s : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16xf32, #blocked1>
//       %next = arith.addf %acc, %0 : tensor<16xf32, #blocked1>
//       scf.yield %next : tensor<16xf32, #blocked1>
//     }
//     tt.store %out, %sum : tensor<16x!tt.ptr<f32>, #blocked1>
//     tt.return
//   }
//   tt.func public @product(%a: tensor<32x16xf16, #blocked2>, %b: tensor<16x32xf16, #blocked3>, %c: tensor<32x32xf32, #blocked3>) -> tensor<32x32xf32, #blocked3> {
//     %0 = ttg.convert_layout %a : tensor<32x16xf16, #blocked2> -> tensor<32x16xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked4}>>
//     %1 = ttg.convert_layout %b : tensor<16x32xf16, #blocked3> -> tensor<16x32xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked4}>>
//     %2 = ttg.convert_layout %c : tensor<32x32xf32, #blocked3> -> tensor<32x32xf32, #blocked4>
//     %d = tt.dot %0, %1, %2 : tensor<32x16xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked4}>> * tensor<16x32xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked4}>> -> tensor<32x32xf32, #blocked4>
//     %3 = ttg.convert_layout %d : tensor<32x32xf32, #blocked4> -> tensor<32x32xf32, #blocked3>
//     tt.return %3 : tensor<32x32xf32, #blocked3>
//   }
//   tt.func public @shapes(%x: tensor<64xf32, #blocked1>, %y: tensor<8x32xf32, #blocked3>) -> (tensor<64xf32, #blocked1>, tensor<32x8xf32, #blocked5>) {
//     %both = tt.join %x, %x : tensor<64xf32, #blocked1> -> tensor<64x2xf32, #blocked6>
//     %0 = ttg.convert_layout %both : tensor<64x2xf32, #blocked6> -> tensor<64x2xf32, #blocked7>
//     %1 = ttg.convert_layout %0 : tensor<64x2xf32, #blocked7> -> tensor<64x2xf32, #blocked6>
//     %left, %right = tt.split %1 : tensor<64x2xf32, #blocked6> -> tensor<64xf32, #blocked1>
//     %sum = arith.addf %left, %right : tensor<64xf32, #blocked1>
//     %turned = tt.trans %y {order = array<i32: 1, 0>} : tensor<8x32xf32, #blocked3> -> tensor<32x8xf32, #blocked8>
//     %2 = ttg.convert_layout %turned : tensor<32x8xf32, #blocked8> -> tensor<32x8xf32, #blocked5>
//     tt.return %sum, %2 : tensor<64xf32, #blocked1>, tensor<32x8xf32, #blocked5>
//   }
// }
