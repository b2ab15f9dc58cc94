#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%arg0: !tt.ptr<f32>, %arg1: tensor<64x64xi32, #blocked>, %arg2: tensor<64x64xi1, #blocked>, %arg3: tensor<64x64xf32, #blocked>, %arg4: i32, %arg5: i1, %arg6: tensor<64x64xbf16, #blocked>, %arg7: tensor<64x64xi8, #blocked>, %arg8: tensor<64x64xf8E4M3FN, #blocked>, %arg9: !ttg.memdesc<64x64xf32, #shared, #smem, mutable>, %arg10: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %arg11: !tt.tensordesc<64x64xf32, #shared>, %arg12: !ttg.async.token, %arg13: i64, %arg14: tensor<64x64x!tt.ptr<f32>, #blocked>, %arg15: tensor<64x64xf16, #blocked>, %arg16: tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>, %arg17: tensor<64x32xi8, #blocked2>) {
    %0 = amdg.buffer_load %arg0[%arg1] : !tt.ptr<f32> -> tensor<64x64xf32, #blocked>
    %1 = amdg.buffer_load %arg0[%arg1], %arg2, %arg3 stride = %arg4 {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>, contiguity = 4 : i32} : !tt.ptr<f32> -> tensor<64x64xf32, #blocked>
    %2 = amdg.buffer_load_to_local %arg0[%arg1] mask = %arg2 other = %arg3 stride = %arg4 into %arg9 : !tt.ptr<f32>[tensor<64x64xi32, #blocked>] tensor<64x64xf32, #blocked> -> <64x64xf32, #shared, #smem, mutable>
    %3 = amdg.buffer_load_to_local %arg0[%arg1] into %arg9 {contiguity = 4 : i32} : !tt.ptr<f32>[tensor<64x64xi32, #blocked>]  -> <64x64xf32, #shared, #smem, mutable>
    amdg.buffer_store %arg3, %arg0[%arg1], %arg2 stride = %arg4 : !tt.ptr<f32> -> tensor<64x64xf32, #blocked>
    amdg.buffer_store %arg3, %arg0[%arg1] {contiguity = 2 : i32} : !tt.ptr<f32> -> tensor<64x64xf32, #blocked>
    %4 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %arg3, %arg0[%arg1], %arg2 stride = %arg4 : !tt.ptr<f32> -> tensor<64x64xf32, #blocked>
    %5 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %arg3, %arg0[%arg1] : !tt.ptr<f32> -> tensor<64x64xf32, #blocked>
    %6 = amdg.buffer_atomic_cas acq_rel, gpu, %arg3, %arg3, %arg0[%arg1] stride = %arg4 : !tt.ptr<f32> -> tensor<64x64xf32, #blocked>
    %7 = amdg.extract_slice %arg3 [32, 0] : tensor<64x64xf32, #blocked> to tensor<32x64xf32, #blocked>
    %8 = amdg.concat %arg3, %arg3 : tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked> -> tensor<128x64xf32, #blocked>
    amdg.cond_barrier %arg5
    %9 = amdg.in_thread_transpose %arg3 : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #blocked>
    %10 = amdg.async_copy_local_to_global %arg9, %arg14 mask %arg2 : !ttg.memdesc<64x64xf32, #shared, #smem, mutable> -> tensor<64x64x!tt.ptr<f32>, #blocked>
    %11 = amdg.async_copy_local_to_global %arg9, %arg14 {contiguity = 4 : i32} : !ttg.memdesc<64x64xf32, #shared, #smem, mutable> -> tensor<64x64x!tt.ptr<f32>, #blocked>
    %12 = amdg.async_tdm_wait %arg12 {num = 0 : i32}
    %13 = amdg.async_tdm_wait  {num = 0 : i32}
    %14 = amdg.async_tdm_intrinsic_wait %arg12 {count = 0 : i32}
    %15 = amdg.async_wait %arg12 {num_inst = 0 : i32}
    %16 = amdg.async_wait {num_inst = 0 : i32}
    amdg.init_barrier %arg10, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    amdg.wait_barrier %arg10, %arg4 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %17 = amdg.arrive_barrier %arg10, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> i32
    amdg.async_copy_mbarrier_arrive %arg10 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %18 = amdg.async_tdm_fused_copy_global_to_local %arg11, %arg11 into %arg9, %arg9 {warp_used_hints = array<i32: 3, 12>} : !tt.tensordesc<64x64xf32, #shared>, !tt.tensordesc<64x64xf32, #shared> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %19 = amdg.async_tdm_copy_global_to_local %arg11 into %arg9, barrier = %arg10 {warp_used_hint = 3 : i32} : !tt.tensordesc<64x64xf32, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %20 = amdg.async_tdm_copy_global_to_local %arg11 into %arg9 : !tt.tensordesc<64x64xf32, #shared> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %21 = amdg.async_tdm_copy_local_to_global %arg11 from %arg9, barrier = %arg10 : !ttg.memdesc<64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !tt.tensordesc<64x64xf32, #shared>
    %22 = amdg.async_tdm_copy_local_to_global %arg11 from %arg9 : !ttg.memdesc<64x64xf32, #shared, #smem, mutable> -> !tt.tensordesc<64x64xf32, #shared>
    %23 = amdg.async_tdm_scatter %arg11[%arg16] from %arg9, barrier = %arg10 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>, !ttg.memdesc<64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !tt.tensordesc<64x64xf32, #shared>
    %24 = amdg.async_tdm_gather %arg11[%arg16] to %arg9 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>, !ttg.memdesc<64x64xf32, #shared, #smem, mutable> -> !tt.tensordesc<64x64xf32, #shared>
    amdg.tdm_prefetch %arg11[%arg4, %arg4], %arg5, speculative = true : !tt.tensordesc<64x64xf32, #shared>
    %25 = amdg.tdm_prefetch %arg11[%arg4, %arg4], %arg5, speculative = false returnOffsets : !tt.tensordesc<64x64xf32, #shared> -> tensor<64x1xi64, #blocked3>
    %26 = amdg.update_tensor_descriptor %arg11 add_offsets = [%arg4, %arg4] : !tt.tensordesc<64x64xf32, #shared>
    %27 = amdg.update_tensor_descriptor %arg11 add_offsets = [%arg4, %arg4] set_bounds = [%arg4, %arg4] pred = %arg4 : !tt.tensordesc<64x64xf32, #shared>
    %28 = amdg.scaled_upcast_fp8 %arg8 scale %arg6 : tensor<64x64xf8E4M3FN, #blocked>, tensor<64x64xbf16, #blocked> -> tensor<64x64xbf16, #blocked>
    %29 = amdg.scaled_upcast_fp4 %arg17 scale %arg6 {axis = 1 : i32} : tensor<64x32xi8, #blocked2>, tensor<64x64xbf16, #blocked> -> tensor<64x64xbf16, #blocked>
    tt.return
  }
}

// -----
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[32, 0]], lane = [[0, 0], [0, 0], [0, 1], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @narrow_floats(%wide: tensor<64x64xbf16, #blocked>, %scale: tensor<64x2xi8, #linear>, %pairs: !ttg.memdesc<16x64xi8, #shared, #smem, mutable>, %token: !ttg.async.token) {
    %0 = amdg.scaled_downcast_fp4 %wide scale %scale {axis = 1 : i32} : tensor<64x64xbf16, #blocked>, tensor<64x2xi8, #linear> -> tensor<64x32xi8, #blocked1>
    %1 = amdg.scaled_downcast_fp8 %wide scale %scale {axis = 1 : i32} : tensor<64x64xbf16, #blocked>, tensor<64x2xi8, #linear> -> tensor<64x64xf8E4M3FN, #blocked>
    %2 = amdg.local_load_packed_transposed %pairs : !ttg.memdesc<16x64xi8, #shared, #smem, mutable> -> tensor<32x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %3 = amdg.local_load_packed_transposed %pairs token %token : !ttg.memdesc<16x64xi8, #shared, #smem, mutable> -> tensor<32x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    tt.return
  }
}

// -----
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @clusters() {
    amdg.cluster_barrier_arrive
    amdg.cluster_barrier_wait
    tt.return
  }
}

// -----
// Older texts: copies that say their positions, a wait for counters.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @older(%desc: !tt.tensordesc<64x64xf32, #shared>, %rows: tensor<64xi32>, %buffer: !ttg.memdesc<64x64xf32, #shared, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %i: i32) {
    %0 = amdg.async_tdm_copy_global_to_local %desc[%i, %i] into %buffer, pred = %i, barrier = %bar : !tt.tensordesc<64x64xf32, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    amdg.async_tdm_copy_local_to_global %desc[%i, %i] from %buffer : !ttg.memdesc<64x64xf32, #shared, #smem, mutable> -> !tt.tensordesc<64x64xf32, #shared>
    %1 = amdg.async_tdm_scatter %desc[%rows, %i] from %buffer : tensor<64xi32>, !ttg.memdesc<64x64xf32, #shared, #smem, mutable> -> !tt.tensordesc<64x64xf32, #shared>
    %2 = amdg.async_tdm_gather %desc[%rows, %i] to %buffer, pred = %i : tensor<64xi32>, !ttg.memdesc<64x64xf32, #shared, #smem, mutable> -> !tt.tensordesc<64x64xf32, #shared>
    %3 = amdg.update_tensor_descriptor %desc dest = %buffer : !ttg.memdesc<64x64xf32, #shared, #smem, mutable> barrier = %bar : !ttg.memdesc<1xi64, #shared1, #smem, mutable> : !tt.tensordesc<64x64xf32, #shared>
    amdg.memory_counter_wait load(3) ds(0)
    tt.return
  }
}
