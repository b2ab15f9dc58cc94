// RUN: amd-schedule-loops{num-stages=2}
// The loads are issued an iteration ahead of the dot; the address is advanced with them.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @dots(%p0: tensor<32x32x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %y: tensor<32x32xf16, #b>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<32> : tensor<32x32xi32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %p = %p0) -> (tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>) : i32 {
      %x = tt.load %p : tensor<32x32x!tt.ptr<f16>, #blocked>
      %q = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
      %d = tt.dot %q, %y, %s : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      %next = tt.addptr %p, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %d, %next : tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>
    }
    tt.return %r#0 : tensor<32x32xf32, #mma>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
// #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = true}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @dots(%p0: tensor<32x32x!tt.ptr<f16>, #blocked> {tt.contiguity = dense<[1, 32]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %y: tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, %n: i32) -> tensor<32x32xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %step = arith.constant dense<32> : tensor<32x32xi32, #blocked>
//     %zero = arith.constant dense<0.000000e+00> : tensor<32x32xf32, #mma>
//     %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %p = %p0) -> (tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>)  : i32 {
//       %x = tt.load %p {loop.cluster = 2 : i32, loop.stage = 0 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
//       %q = ttg.convert_layout %x {loop.cluster = 0 : i32, loop.stage = 1 : i32} : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
//       %d = tt.dot %q, %y, %s {loop.cluster = 0 : i32, loop.stage = 1 : i32} : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
//       %next = tt.addptr %p, %step {loop.cluster = 1 : i32, loop.stage = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
//       scf.yield %d, %next : tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>
//     } {tt.scheduled_max_stage = 1 : i32}
//     tt.return %r#0 : tensor<32x32xf32, #mma>
//   }
// }
