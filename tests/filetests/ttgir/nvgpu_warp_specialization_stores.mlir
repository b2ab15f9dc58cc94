// RUN: nvgpu-warp-specialization, canonicalize
// The first product of a tile is issued, then the tile before is stored, then the product is waited for.
// CHECK: default {
// CHECK: scf.if
// CHECK: %[[BUFFER:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
// CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
// CHECK-NEXT: ttg.local_store %{{.*}}, %[[BUFFER]]
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global %{{.*}} %[[BUFFER]]
// CHECK: %[[DONE:.*]] = ttng.warp_group_dot_wait %[[FIRST]] {pendings = 0 : i32}
// CHECK: scf.for {{.*}} = %[[DONE]]
// CHECK: ttg.local_store %{{.*}}, %[[BUFFER]]
// CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
// CHECK: ttg.local_dealloc %[[BUFFER]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @tiles(%a: !tt.tensordesc<64x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %c: !tt.tensordesc<64x64xf16, #shared>, %rows: i32, %k: i32) {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    scf.for %m = %c0 to %rows step %c64  : i32 {
      %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {
        %x = tt.descriptor_load %a[%m, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
        %x_buffer = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
        %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
        %y_buffer = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
        %next = ttng.warp_group_dot %x_buffer, %y_buffer, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
        scf.yield %next : tensor<64x64xf32, #mma>
      }
      %tile = arith.truncf %sum : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      tt.descriptor_store %c[%m, %c0], %tile : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #mma>
    } {tt.warp_specialize}
    tt.return
  }
}
