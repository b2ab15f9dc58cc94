// RUN: tma-lowering
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<64x64xf16, #a>
!desc = !tt.tensordesc<64x64xf16, #shared>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two loads are under way at the same time; a buffer is used where it is read.
  // CHECK-LABEL: @together
  // CHECK: [[A:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64
  // CHECK: ttng.async_tma_copy_global_to_local %x
  // CHECK: [[B:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64
  // CHECK: ttng.async_tma_copy_global_to_local %y
  // CHECK: tt.load
  // CHECK: ttng.wait_barrier [[B]]
  // CHECK: ttng.wait_barrier [[A]]
  // CHECK: arith.addf
  tt.func @together(%x: !desc, %y: !desc, %p: !tt.ptr<f32>, %i: i32) -> (!tile, f32) {
    %u = tt.descriptor_load %x[%i, %i] : !desc -> !tile
    %v = tt.descriptor_load %y[%i, %i] : !desc -> !tile
    %m = ttg.local_alloc %v : (!tile) -> !buffer
    %s = tt.load %p : !tt.ptr<f32>
    %w = ttg.local_load %m : !buffer -> !tile
    %r = arith.addf %u, %w : !tile
    tt.return %r, %s : !tile, f32
  }
  // What is stored afterwards must not be what is loaded.
  // CHECK-LABEL: @stored
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.async_tma_copy_local_to_global
  tt.func @stored(%x: !desc, %v: !tile, %i: i32) -> !tile {
    %u = tt.descriptor_load %x[%i, %i] : !desc -> !tile
    tt.descriptor_store %x[%i, %i], %v : !desc, !tile
    tt.return %u : !tile
  }
  // A loop that uses it in every iteration begins when it has come.
  // CHECK-LABEL: @loop
  // CHECK: ttng.wait_barrier
  // CHECK: scf.for
  tt.func @loop(%x: !desc, %n: i32) -> !tile {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %u = tt.descriptor_load %x[%zero, %zero] : !desc -> !tile
    %r = scf.for %i = %zero to %n step %one iter_args(%s = %u) -> (!tile) : i32 {
      %t = arith.addf %s, %u : !tile
      scf.yield %t : !tile
    }
    tt.return %r : !tile
  }
  // The warps of the default region wait for what they alone use; the others have begun.
  // CHECK-LABEL: @specialized
  // CHECK: ttng.async_tma_copy_global_to_local %x
  // CHECK: ttng.async_tma_copy_global_to_local %y
  // CHECK: ttng.wait_barrier
  // CHECK: ttg.warp_specialize
  // CHECK: default
  // CHECK: ttng.wait_barrier
  // CHECK: ttg.local_load
  tt.func @specialized(%x: !desc, %y: !desc, %i: i32) {
    %u = tt.descriptor_load %x[%i, %i] : !desc -> !tile
    %m = ttg.local_alloc %u : (!tile) -> !buffer
    %v = tt.descriptor_load %y[%i, %i] : !desc -> !tile
    %n = ttg.local_alloc %v : (!tile) -> !buffer
    ttg.warp_specialize(%n)
    default {
      %w = ttg.local_load %m : !buffer -> !tile
      tt.descriptor_store %x[%i, %i], %w : !desc, !tile
      ttg.warp_yield
    }
    partition0(%b: !buffer) num_warps(4) {
      %w = ttg.local_load %b : !buffer -> !tile
      ttg.warp_return
    } : (!buffer) -> ()
    tt.return
  }
  // Descriptors made before one of them is used are made together.
  // CHECK-LABEL: @made
  // CHECK: ttng.tensormap_create [[P:%.*]], %p
  // CHECK-NOT: ttng.tensormap_fenceproxy_acquire
  // CHECK: ttng.tensormap_create [[Q:%.*]], %q
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire [[P]]
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire [[Q]]
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.tensormap_create
  tt.func @made(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %n: i32, %s: i64) -> !tile {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <64x64xf16, #shared>
    %e = tt.make_tensor_descriptor %q, [%n, %n], [%s, %one] : <f16>, <64x64xf16, #shared>
    %u = tt.descriptor_load %d[%n, %n] : !desc -> !tile
    %f = tt.make_tensor_descriptor %q, [%n, %n], [%s, %one] : <f16>, <64x64xf16, #shared>
    tt.descriptor_store %e[%n, %n], %u : !desc, !tile
    tt.descriptor_store %f[%n, %n], %u : !desc, !tile
    tt.return %u : !tile
  }
}
