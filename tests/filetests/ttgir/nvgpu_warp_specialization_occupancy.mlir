// RUN: nvgpu-warp-specialization{num-stages=4}
// With four warps two CTAs fit on an SM: three slots of 32 KiB each in half of the shared memory, 128 registers.
// CHECK: module attributes {
// CHECK-SAME: ttg.maxnreg = 128
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16
// CHECK: requestedRegisters = array<i32: 40>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%a: !tt.tensordesc<128x64xf16, #shared>, %b: !tt.tensordesc<128x64xf16, #shared>, %m: i32, %n: i32, %k: i32) -> tensor<128x128xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>)  : i32 {
      %x = tt.descriptor_load %a[%m, %i] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
      %x_buffer = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%n, %i] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
      %y_buffer = ttg.local_alloc %y : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %turned = ttg.memdesc_trans %y_buffer {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #shared, #smem> -> !ttg.memdesc<64x128xf16, #shared1, #smem>
      %next = ttng.warp_group_dot %x_buffer, %turned, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared1, #smem> -> tensor<128x128xf32, #mma>
      scf.yield %next : tensor<128x128xf32, #mma>
    } {tt.warp_specialize}
    tt.return %sum : tensor<128x128xf32, #mma>
  }
}
