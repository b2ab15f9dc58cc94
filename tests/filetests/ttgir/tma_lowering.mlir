// RUN: tma-lowering
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#deep = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32, rank = 3}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>
#smem = #ttg.shared_memory
!tile = tensor<64x32xf32, #a>
!desc = !tt.tensordesc<64x32xf32, #shared>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A buffer of the same layout is the one that was copied to; its views can be written then. Other users read it.
  // CHECK-LABEL: @views
  // CHECK: [[BUFFER:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x32xf32, #shared, #smem, mutable>
  // CHECK: ttg.memdesc_trans [[BUFFER]] {{.*}} -> !ttg.memdesc<32x64xf32, {{.*}}, #smem, mutable>
  // CHECK: ttng.inval_barrier
  // CHECK: ttg.local_load
  tt.func @views(%x: !desc, %i: i32) -> (!ttg.memdesc<32x64xf32, #turned, #smem>) {
    %v = tt.descriptor_load %x[%i, %i] : !desc -> !tile
    %m = ttg.local_alloc %v : (!tile) -> !ttg.memdesc<64x32xf32, #shared, #smem>
    %t = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf32, #shared, #smem> -> !ttg.memdesc<32x64xf32, #turned, #smem>
    %w = ttg.local_load %t : !ttg.memdesc<32x64xf32, #turned, #smem> -> tensor<32x64xf32, #a>
    tt.descriptor_store %x[%i, %i], %v : !desc, !tile
    %c = ttg.local_alloc %w : (tensor<32x64xf32, #a>) -> !ttg.memdesc<32x64xf32, #turned, #smem>
    tt.return %c : !ttg.memdesc<32x64xf32, #turned, #smem>
  }
  // A dimension of size 1 is left out in the buffer, too.
  // CHECK-LABEL: @fewer
  // CHECK: ttng.barrier_expect {{.*}}, 8192
  // CHECK: ttng.async_tma_copy_global_to_local %x[%i, %i, %i] {{.*}} : !tt.tensordesc<1x64x32xf32, {{.*}}>, {{.*}} -> !ttg.memdesc<64x32xf32, #shared
  tt.func @fewer(%x: !tt.tensordesc<1x64x32xf32, #deep>, %i: i32) -> !tile {
    %v = tt.descriptor_load %x[%i, %i, %i] : !tt.tensordesc<1x64x32xf32, #deep> -> !tile
    tt.return %v : !tile
  }
  // CHECK-LABEL: @memory
  // CHECK: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_reduce max, %x[%i, %i]
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32}
  tt.func @memory(%x: !tt.tensordesc<64x32xi32, #shared>, %v: tensor<64x32xi32, #a>, %i: i32) {
    tt.descriptor_reduce max, %x[%i, %i], %v : !tt.tensordesc<64x32xi32, #shared>, tensor<64x32xi32, #a>
    tt.return
  }
  // Numbers of rows of 16 bits are made wider.
  // CHECK-LABEL: @rows
  // CHECK: arith.extsi %r
  // CHECK: ttng.async_tma_gather %x[
  // CHECK: ttng.async_tma_scatter %x[
  tt.func @rows(%x: !tt.tensordesc<1x32xf32, #shared>, %r: tensor<64xi16, #rows>, %s: tensor<64xi32, #rows>, %i: i32) {
    %v = tt.descriptor_gather %x[%r, %i] : (!tt.tensordesc<1x32xf32, #shared>, tensor<64xi16, #rows>, i32) -> !tile
    tt.descriptor_scatter %x[%s, %i], %v : !tt.tensordesc<1x32xf32, #shared>, tensor<64xi32, #rows>, i32, !tile
    tt.return
  }
  // From the innermost dimension out; strides in bytes; NaN outside.
  // CHECK-LABEL: @made
  // CHECK: [[AT:%.*]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32}
  // CHECK: ttng.tensormap_create [[AT]], %p, [%c32_i32, %c64_i32], [%n, %m], [{{.*}}], [%c1_i32, %c1_i32] {elem_type = 7 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire [[AT]]
  // CHECK-NEXT: ttng.reinterpret_tensor_descriptor [[AT]]
  tt.func @made(%p: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64) -> !desc {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] {padding = 2 : i32} : <f32>, <64x32xf32, #shared>
    tt.return %d : !desc
  }
}
