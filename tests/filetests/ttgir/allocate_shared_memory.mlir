// RUN: allocate-shared-memory
// Buffers live at the same time do not overlap: two buffers, and a third at the offset of the first.
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#wgmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#gaps = #ttg.padded_shared<[64:+4] {order = [1, 0], shape = [16, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
// CHECK: ttg.shared = 3072
  // CHECK-LABEL: @reuse
  tt.func @reuse(%x: tensor<16x16xf32, #a>) {
    // CHECK: ttg.local_alloc {allocation.offset = 0 : i32}
    %one = ttg.local_alloc : () -> !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
    // CHECK-NEXT: ttg.local_alloc {allocation.offset = 1024 : i32}
    %two = ttg.local_alloc : () -> !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
    ttg.local_store %x, %one : tensor<16x16xf32, #a> -> !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
    ttg.local_dealloc %one : !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
    // CHECK: ttg.local_alloc {allocation.offset = 0 : i32}
    %three = ttg.local_alloc : () -> !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
    ttg.local_store %x, %two : tensor<16x16xf32, #a> -> !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
    ttg.local_store %x, %three : tensor<16x16xf32, #a> -> !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
    tt.return
  }
  // A view keeps its buffer alive, and a loop what comes from outside of it, for all iterations.
  // CHECK-LABEL: @views_and_loops
  tt.func @views_and_loops(%x: tensor<16x16xf32, #a>, %n: i32) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    // CHECK: ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<2x16x16xf32
    %two = ttg.local_alloc : () -> !ttg.memdesc<2x16x16xf32, #flat, #smem, mutable>
    %view = ttg.memdesc_index %two[%step] : !ttg.memdesc<2x16x16xf32, #flat, #smem, mutable> -> !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
    scf.for %i = %zero to %n step %step : i32 {
      ttg.local_store %x, %view : tensor<16x16xf32, #a> -> !ttg.memdesc<16x16xf32, #flat, #smem, mutable>
      // CHECK: ttg.local_alloc %x {allocation.offset = 2048 : i32}
      %inside = ttg.local_alloc %x : (tensor<16x16xf32, #a>) -> !ttg.memdesc<16x16xf32, #flat, #smem>
    }
    tt.return
  }
  // Alignment follows from the layout, gaps count, and conversions within warps need nothing.
  // CHECK-LABEL: @layouts
  tt.func @layouts(%x: tensor<16x16xf16, #a>) {
    // CHECK: ttg.local_alloc {allocation.offset = 0 : i32}
    %wide = ttg.local_alloc : () -> !ttg.memdesc<8x64xf16, #wgmma, #smem, mutable>
    // CHECK-NEXT: ttg.local_alloc {allocation.offset = 1536 : i32}
    %padded = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #gaps, #smem, mutable>
    // CHECK-NEXT: ttg.convert_layout %x {allocation.offset = 1024 : i32}
    %y = ttg.convert_layout %x : tensor<16x16xf16, #a> -> tensor<16x16xf16, #b>
    ttg.local_dealloc %wide : !ttg.memdesc<8x64xf16, #wgmma, #smem, mutable>
    ttg.local_store %x, %padded : tensor<16x16xf16, #a> -> !ttg.memdesc<16x16xf16, #gaps, #smem, mutable>
    tt.return
  }
  // A call has the shared memory of the function called, above what is alive.
  // CHECK-LABEL: @caller
  tt.func public @caller(%x: tensor<16x16xf32, #a>) {
    // CHECK: ttg.local_alloc {{.*}}allocation.offset
    %kept = ttg.local_alloc : () -> !ttg.memdesc<16x16xi8, #flat, #smem, mutable>
    // CHECK-NEXT: tt.call @reuse(%x) {allocation.offset
    tt.call @reuse(%x) : (tensor<16x16xf32, #a>) -> ()
    ttg.local_dealloc %kept : !ttg.memdesc<16x16xi8, #flat, #smem, mutable>
    tt.return
  }
}
