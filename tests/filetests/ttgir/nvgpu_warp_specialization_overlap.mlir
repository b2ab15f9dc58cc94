// RUN: nvgpu-warp-specialization, canonicalize
// Q.K of an iteration and P.V of the previous one are issued together; the exponentials overlap with P.V, and
// the computation of the next P waits for it. Both dots of the first iteration are synchronous.
// CHECK: default {
// CHECK: scf.if
// CHECK: ttng.warp_group_dot
// CHECK: scf.for
// CHECK: %[[S:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
// CHECK: %[[O:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
// CHECK: %[[S2:.*]] = ttng.warp_group_dot_wait %[[S]] {pendings = 1 : i32}
// CHECK: %[[E:.*]] = math.exp2 %[[S2]]
// CHECK: ttng.warp_group_dot_wait %[[O]], %[[E]] {pendings = 0 : i32}
// CHECK: arith.truncf
// CHECK: scf.yield
// CHECK: ttng.warp_group_dot
// CHECK: } else {
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @weights(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %k: !tt.tensordesc<64x64xf16, #shared>, %v: !tt.tensordesc<64x64xf16, #shared>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %x_buffer = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %turned = ttg.memdesc_trans %x_buffer {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #shared1, #smem>
      %s = ttng.warp_group_dot %q, %turned, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared1, #smem> -> tensor<64x64xf32, #mma>
      %e = math.exp2 %s : tensor<64x64xf32, #mma>
      %half = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %p = ttg.convert_layout %half : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %y = tt.descriptor_load %v[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %y_buffer = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %next = ttng.warp_group_dot %p, %y_buffer, %acc {inputPrecision = 0 : i32} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    } {tt.warp_specialize}
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}
