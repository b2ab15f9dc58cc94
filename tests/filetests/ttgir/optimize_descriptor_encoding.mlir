// RUN: optimize-descriptor-encoding
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s32 = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#s64 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<64x64xf16, #a>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: [[NARROW:#shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
  // CHECK-DAG: [[MIDDLE:#shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
  // CHECK-DAG: [[WIDE:#shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>

  // A loop carries one of two on: all that flow together have one layout, that of the buffer asked for.
  // CHECK-LABEL: @flow(
  // CHECK-SAME: %x: !tt.tensordesc<64x64xf16, [[MIDDLE]]>, %y: !tt.tensordesc<64x64xf16, [[MIDDLE]]>
  // CHECK: scf.for {{.*}} -> (!tt.tensordesc<64x64xf16, [[MIDDLE]]>)
  // CHECK: arith.select {{.*}} : !tt.tensordesc<64x64xf16, [[MIDDLE]]>
  tt.func public @flow(%x: !tt.tensordesc<64x64xf16>, %y: !tt.tensordesc<64x64xf16>, %n: i32, %c: i1) -> !ttg.memdesc<64x64xf16, #s64, #smem> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %d = scf.for %i = %zero to %n step %one iter_args(%d = %x) -> (!tt.tensordesc<64x64xf16>) : i32 {
      %e = arith.select %c, %d, %y : !tt.tensordesc<64x64xf16>
      scf.yield %e : !tt.tensordesc<64x64xf16>
    }
    %v = tt.descriptor_load %d[%zero, %zero] : !tt.tensordesc<64x64xf16> -> !tile
    %m = ttg.local_alloc %v : (!tile) -> !ttg.memdesc<64x64xf16, #s64, #smem>
    tt.return %m : !ttg.memdesc<64x64xf16, #s64, #smem>
  }
  // Two layouts asked for, or one that the copy engine does not write: the widest swizzle.
  // CHECK-LABEL: @asked(
  // CHECK-SAME: %x: !tt.tensordesc<64x64xf16, [[WIDE]]>, %y: !tt.tensordesc<64x64xf16, [[WIDE]]>
  tt.func public @asked(%x: !tt.tensordesc<64x64xf16>, %y: !tt.tensordesc<64x64xf16>, %i: i32) -> (!ttg.memdesc<64x64xf16, #s64, #smem>, !ttg.memdesc<64x64xf16, #s32, #smem>, !ttg.memdesc<64x64xf16, #turned, #smem>) {
    %u = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<64x64xf16> -> !tile
    %a = ttg.local_alloc %u : (!tile) -> !ttg.memdesc<64x64xf16, #s64, #smem>
    %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<64x64xf16> -> !tile
    %b = ttg.local_alloc %v : (!tile) -> !ttg.memdesc<64x64xf16, #s32, #smem>
    %w = tt.descriptor_load %y[%i, %i] : !tt.tensordesc<64x64xf16> -> !tile
    %c = ttg.local_alloc %w : (!tile) -> !ttg.memdesc<64x64xf16, #turned, #smem>
    tt.return %a, %b, %c : !ttg.memdesc<64x64xf16, #s64, #smem>, !ttg.memdesc<64x64xf16, #s32, #smem>, !ttg.memdesc<64x64xf16, #turned, #smem>
  }
  // Rows of 32 bytes; of gathered rows there are enough to be swizzled.
  // CHECK-LABEL: @rows(
  // CHECK-SAME: %x: !tt.tensordesc<1x16xf16, [[NARROW]]>, %y: !tt.tensordesc<64x16xf16, [[NARROW]]>
  tt.func public @rows(%x: !tt.tensordesc<1x16xf16>, %y: !tt.tensordesc<64x16xf16>, %r: tensor<64xi32, #rows>, %i: i32) {
    %u = tt.descriptor_gather %x[%r, %i] : (!tt.tensordesc<1x16xf16>, tensor<64xi32, #rows>, i32) -> tensor<64x16xf16, #a>
    tt.descriptor_store %y[%i, %i], %u : !tt.tensordesc<64x16xf16>, tensor<64x16xf16, #a>
    tt.return
  }
  // A function that is called, and who calls it, know nothing of each other's accesses.
  // CHECK-LABEL: @callee(
  // CHECK-SAME: %x: !tt.tensordesc<64x64xf16, [[WIDE]]>
  tt.func private @callee(%x: !tt.tensordesc<64x64xf16>, %i: i32) -> !ttg.memdesc<64x64xf16, #s32, #smem> {
    %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<64x64xf16> -> !tile
    %m = ttg.local_alloc %v : (!tile) -> !ttg.memdesc<64x64xf16, #s32, #smem>
    tt.return %m : !ttg.memdesc<64x64xf16, #s32, #smem>
  }
  // CHECK-LABEL: @caller(
  // CHECK-SAME: %x: !tt.tensordesc<64x64xf16, [[WIDE]]>
  // CHECK: tt.call @callee(%x, %i) : (!tt.tensordesc<64x64xf16, [[WIDE]]>, i32)
  tt.func public @caller(%x: !tt.tensordesc<64x64xf16>, %i: i32) -> !ttg.memdesc<64x64xf16, #s32, #smem> {
    %m = tt.call @callee(%x, %i) : (!tt.tensordesc<64x64xf16>, i32) -> !ttg.memdesc<64x64xf16, #s32, #smem>
    tt.return %m : !ttg.memdesc<64x64xf16, #s32, #smem>
  }
}
