#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @concurrency(%ok: i1, %lock: !tt.ptr<i32>, %buffer: !ttg.memdesc<32x32xf32, #shared, #smem, mutable>, %i: tensor<32x32xi32, #blocked>, %x: i32) {
    tti.experimental_assert_uniform %ok, "a buffer is in use"
    tti.experimental_assert_uniform %ok, "again" attributes {note = 1 : i32}
    %0 = tti.experimental_buffer_descriptors [0, 42], [8, 16], tensor_mem : tensor<2xi64, #line>
    %1 = tti.experimental_memdesc_to_i32 %buffer : <32x32xf32, #shared, #smem, mutable>
    %2 = tti.experimental_memory_offset_to_i32 3, shared_mem
    %3 = tti.experimental_cluster_cta_id : i32
    %4 = tti.experimental_local_gather %buffer[%i] offsets = [%x, %x] {axis = 0 : i32} : !ttg.memdesc<32x32xf32, #shared, #smem, mutable>, tensor<32x32xi32, #blocked> -> tensor<32x32xf32, #blocked>
    tti.experimental_lock_acquire %lock, %ok : !tt.ptr<i32>
    tti.experimental_lock_release %lock : !tt.ptr<i32>
    tt.return
  }
  tt.func @clocks(%scratch: !tt.ptr<i8>, %bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %phase: i32, %p: i1) {
    tti.experimental_gsan_init
    tti.experimental_gsan_grid_dependency_wait
    tti.experimental_gsan_cluster_barrier_init %scratch : <i8>
    tti.experimental_gsan_cluster_barrier_sync %scratch : <i8>
    tti.experimental_gsan_mbarrier_table_init %scratch, 3 : <i8>
    tti.experimental_gsan_mbarrier_init %scratch, %bar, 1 : <i8>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    tti.experimental_gsan_mbarrier_arrive %scratch, %bar, %p, 1 {multicast = false, multicastMasks = array<i32: 1>, publishClock = false, sourceBroadcastMask = 0 : i32} : <i8>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    tti.experimental_gsan_mbarrier_wait %scratch, %bar, %phase, %p : <i8>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    tti.experimental_gsan_kernel_exit
    tt.return
  }
  tt.func @accesses(%desc: !tt.tensordesc<64x64xf16, #shared2>, %rows: tensor<32xi32, #line>, %ptrs: tensor<32x32x!tt.ptr<f32>, #blocked>, %v: tensor<32x32xf32, #blocked>, %mask: tensor<32x32xi1, #blocked>, %ip: !tt.ptr<i32>, %x: i32, %p: i1) {
    tti.experimental_gsan_tensordesc_access %desc[%x, %x], true : !tt.tensordesc<64x64xf16, #shared2>
    tti.experimental_gsan_tensordesc_access %desc[%x, %x], false, %p : !tt.tensordesc<64x64xf16, #shared2>
    tti.experimental_gsan_indexed_tensordesc_access %desc[%rows, %x], false, %p : !tt.tensordesc<64x64xf16, #shared2>, tensor<32xi32, #line>
    tti.experimental_gsan_atomic_tensordesc_access %desc[%x, %x], relaxed, gpu : !tt.tensordesc<64x64xf16, #shared2>
    tti.experimental_gsan_tensor_access %ptrs, true, %mask : tensor<32x32x!tt.ptr<f32>, #blocked>
    %0 = tti.experimental_gsan_atomic_load acquire, sys, %ptrs, %mask : (tensor<32x32x!tt.ptr<f32>, #blocked>, tensor<32x32xi1, #blocked>) -> tensor<32x32xf32, #blocked>
    tti.experimental_gsan_atomic_store release, gpu, %ptrs, %v : tensor<32x32x!tt.ptr<f32>, #blocked>
    tti.experimental_gsan_atomic_poll relaxed, gpu, %ip, %p : !tt.ptr<i32>
    %1 = tti.experimental_gsan_atomic_rmw fadd, acq_rel, gpu, %ptrs, %v, %mask : (tensor<32x32x!tt.ptr<f32>, #blocked>, tensor<32x32xf32, #blocked>, tensor<32x32xi1, #blocked>) -> tensor<32x32xf32, #blocked>
    %2 = tti.experimental_gsan_atomic_cas acq_rel, cta, %ip, %x, %x : (!tt.ptr<i32>, i32, i32) -> i32
    tt.return
  }
  tt.func @numbers(%v: tensor<32x32xf32, #blocked>, %a: tensor<32x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, %b: tensor<32x32xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, %c: tensor<32x32xi32, #mma>) {
    %0 = tti.experimental_fpsan_embed %v : (tensor<32x32xf32, #blocked>) -> tensor<32x32xi32, #blocked>
    %1 = tti.experimental_fpsan_unembed %0 : (tensor<32x32xi32, #blocked>) -> tensor<32x32xf32, #blocked>
    %2 = tti.dot_i8 %a, %b, %c, aSigned = true, bSigned = false : tensor<32x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x32xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xi32, #mma>
    tt.return
  }
}

// -----
// Older texts take descriptors apart.
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @older(%desc: !tt.tensordesc<64x64xf16>) {
    %0:5 = tti.experimental_gsan_tensordesc_info %desc : !tt.tensordesc<64x64xf16> -> !tt.ptr<f16>, i64, i64, i64, i64
    tt.return
  }
}
