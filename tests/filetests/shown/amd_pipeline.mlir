// RUN: amd-pipeline, canonicalize
// The load of the next iteration is issued first; its result waits in registers until the dot has read the buffer.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @loop(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %step: tensor<32x32xi32, #blocked>, %y: tensor<32x32xf16, #b>, %z: tensor<32x32xf32, #mma>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %acc, %last = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z, %q = %p) -> (tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>) : i32 {
      %v = tt.load %q {loop.cluster = 1 : i32, loop.stage = 0 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %x = ttg.convert_layout %v {loop.cluster = 0 : i32, loop.stage = 1 : i32} : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
      %d = tt.dot %x, %y, %c {loop.cluster = 0 : i32, loop.stage = 1 : i32} : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      %r = tt.addptr %q, %step {loop.cluster = 0 : i32, loop.stage = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %d, %r : tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %acc : tensor<32x32xf32, #mma>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
// #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = true}>
// #shared = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @loop(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %step: tensor<32x32xi32, #blocked>, %y: tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, %z: tensor<32x32xf32, #mma>, %n: i32) -> tensor<32x32xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %0 = ttg.local_alloc : () -> !ttg.memdesc<1x32x32xf16, #shared, #smem, mutable>
//     %1 = arith.cmpi sgt, %n, %c0 : i32
//     %2 = tt.splat %1 : i1 -> tensor<32x32xi1, #blocked>
//     %v = tt.load %p, %2 : tensor<32x32x!tt.ptr<f16>, #blocked>
//     %r = tt.addptr %p, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
//     %3 = ttg.memdesc_index %0[%c0] : !ttg.memdesc<1x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//     ttg.local_store %v, %3 : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//     %4 = arith.subi %n, %c1 : i32
//     %5, %last = scf.for %i = %c0 to %4 step %c1 iter_args(%c = %z, %q = %r) -> (tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>)  : i32 {
//       %v_0 = tt.load %q : tensor<32x32x!tt.ptr<f16>, #blocked>
//       %r_1 = tt.addptr %q, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
//       %7 = ttg.memdesc_index %0[%c0] : !ttg.memdesc<1x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//       %x = ttg.local_load %7 : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
//       %d = tt.dot %x, %y, %c : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
//       %8 = ttg.memdesc_index %0[%c0] : !ttg.memdesc<1x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//       ttg.local_store %v_0, %8 : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//       scf.yield %d, %r_1 : tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>
//     }
//     %6 = arith.cmpi sgt, %n, %c0 : i32
//     %acc = scf.if %6 -> (tensor<32x32xf32, #mma>) {
//       %7 = ttg.memdesc_index %0[%c0] : !ttg.memdesc<1x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
//       %x = ttg.local_load %7 : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
//       %d = tt.dot %x, %y, %5 : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
//       scf.yield %d : tensor<32x32xf32, #mma>
//     } else {
//       scf.yield %5 : tensor<32x32xf32, #mma>
//     }
//     ttg.local_dealloc %0 : !ttg.memdesc<1x32x32xf16, #shared, #smem, mutable>
//     tt.return %acc : tensor<32x32xf32, #mma>
//   }
// }
