#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#lhs = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @products_of_a_warp_group(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %x: tensor<64x64xf16, #lhs>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %c: tensor<64x64xf32, #mma>, %use: i1) {
    %0 = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    %1 = ttng.warp_group_dot %x, %b, %0, %use {inputPrecision = 0 : i32, isAsync = true, maxNumImpreciseAcc = 32 : i32} : tensor<64x64xf16, #lhs> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    %2:2 = ttng.warp_group_dot_wait %1, %a {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem>
    %3 = ttng.warp_group_dot_wait %2#0 {pendings = 1 : i32, warpGroupLocal} : tensor<64x64xf32, #mma>
    tt.return
  }
  tt.func @packed(%a: tensor<64x32xbf16, #pairs>, %f: tensor<64x32xf32, #pairs>, %h: tensor<64x32xf16, #pairs>) {
    %0 = ttng.packed_arith add %f, %f : (tensor<64x32xf32, #pairs>, tensor<64x32xf32, #pairs>) -> tensor<64x32xf32, #pairs>
    %1 = ttng.packed_arith fma %a, %a, %a {note = 1 : i32} : (tensor<64x32xbf16, #pairs>, tensor<64x32xbf16, #pairs>, tensor<64x32xbf16, #pairs>) -> tensor<64x32xbf16, #pairs>
    %2 = ttng.packed_arith max %h, %h : (tensor<64x32xf16, #pairs>, tensor<64x32xf16, #pairs>) -> tensor<64x32xf16, #pairs>
    tt.return
  }
  tt.func @barriers(%bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %phase: i32, %p: i1, %buffer: !ttg.memdesc<64x64xf16, #shared, #smem>) {
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.barrier_expect %bar, 8192, %p : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.barrier_expect %bar, 64 {fromCTA = 0 : i32}, %p : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %bar, %phase, %p : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %bar, %phase deps %buffer : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.wait_barrier %bar, %phase, %p deps %buffer, %buffer : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.arrive_barrier %bar, 2 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.arrive_barrier %bar, 1, %p {fromCTA = 0 : i32} : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %bar : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %bar {noIncrement} : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.inval_barrier %bar : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    tt.return
  }
  tt.func @copies(%desc: !tt.tensordesc<64x64xf16, #shared>, %windows: !ttng.tensordesc_im2col<64x64xf16, #shared>, %row: !tt.tensordesc<1x32xf32, #shared2>, %buffer: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %lines: !ttg.memdesc<32x32xf32, #shared2, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %x: i32, %o: i16, %p: i1, %rows: tensor<32xi32, #rows>) {
    ttng.async_tma_copy_global_to_local %desc[%x, %x] %buffer, %bar, %p : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %desc[%x, %x] %buffer, %bar, %p {cachePolicy = #ttng.cache_policy<l2_primary = evict_first, l2_secondary = evict_unchanged, l2_fraction = 5.000000e-01 : f32>} : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %windows[%x, %x, %x, %x] offsets = [%o, %o] %buffer, %bar, %p : !ttng.tensordesc_im2col<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_local_to_global %desc[%x, %x] %buffer : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_reduce add, %desc[%x, %x] %buffer : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_gather %row[%rows, %x] %lines, %bar, %p : !tt.tensordesc<1x32xf32, #shared2>, tensor<32xi32, #rows>, i32, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<32x32xf32, #shared2, #smem, mutable>, i1
    ttng.async_tma_scatter %row[%rows, %x] %lines : !tt.tensordesc<1x32xf32, #shared2>, tensor<32xi32, #rows>, i32, !ttg.memdesc<32x32xf32, #shared2, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
    tt.return
  }
  tt.func @descriptors(%raw: !tt.ptr<i8>, %base: !tt.ptr<f32>, %n: i32, %stride: i64) {
    ttng.tensormap_create %raw, %base, [%n, %n], [%n, %n], [%stride], [%n, %n] {elem_type = 3 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 2 : i32} : (!tt.ptr<i8>, !tt.ptr<f32>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %raw : !tt.ptr<i8>
    %0 = ttng.reinterpret_tensor_descriptor %raw : !tt.ptr<i8> to !tt.tensordesc<64x64xf16, #shared>
    tt.return
  }
}

// -----
#blocked = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#pairs = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#shared3 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#shared4 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem_scales = #ttng.tensor_memory_scales_encoding<>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @tensor_memory(%bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %words: !ttg.memdesc<128x64xf32, #shared4, #smem>, %phase: i32, %p: i1) {
    %result, %token = ttng.tmem_alloc : () -> (!ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
    %0 = ttng.tc_gen5_mma %a, %b, %result[%token], %p, %p : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    %1 = ttng.tc_gen5_mma %a, %b, %result[], %p, %p, %bar[%p], %bar[%p] {is_async} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.tc_gen5_mma %a, %b, %result, %p, %p {is_async} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.tc_gen5_commit %bar : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.tc_gen5_commit %bar, %p descs %a, %b : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %result_0, %token_1 = ttng.tmem_load %result[%1] : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #blocked>
    %result_2, %red = ttng.tmem_load %result {NaN = true, abs = true, redOp = #ttng.redOp<max>} : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #blocked>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %result_3, %token_4, %red_5 = ttng.tmem_load %result[] {redOp = #ttng.redOp<min>} : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #blocked>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    ttng.tmem_wait load
    %2 = ttng.tmem_store %result_0, %result[%token_1], %p : tensor<128x64xf32, #blocked> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.tmem_store %result_0, %result, %p : tensor<128x64xf32, #blocked> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.tmem_wait store
    %result_6 = ttng.tmem_alloc %result_0 : (tensor<128x64xf32, #blocked>) -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory>
    %3 = ttng.tmem_subslice %result {offset = 32 : i32} : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory, mutable, 128x64>
    ttng.tmem_copy %words, %result : !ttg.memdesc<128x64xf32, #shared4, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    tt.return
  }
  tt.func @scaled(%bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %a: !ttg.memdesc<128x128xf8E5M2, #shared2, #smem>, %b: !ttg.memdesc<128x128xf8E4M3FN, #shared3, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem1, #ttng.tensor_memory, mutable>, %scale: !ttg.memdesc<128x4xi8, #tmem_scales, #ttng.tensor_memory>, %p: i1) {
    ttng.tc_gen5_mma_scaled %a, %b, %d, %scale, %scale, %p, %p lhs = e5m2 rhs = e4m3 : !ttg.memdesc<128x128xf8E5M2, #shared2, #smem>, !ttg.memdesc<128x128xf8E4M3FN, #shared3, #smem>, !ttg.memdesc<128x128xf32, #tmem1, #ttng.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #tmem_scales, #ttng.tensor_memory>, !ttg.memdesc<128x4xi8, #tmem_scales, #ttng.tensor_memory>
    %0 = ttng.tc_gen5_mma_scaled %a, %b, %d[], %scale, %scale, %p, %p lhs = e5m2 rhs = e4m3, %bar[%p] {is_async} : !ttg.memdesc<128x128xf8E5M2, #shared2, #smem>, !ttg.memdesc<128x128xf8E4M3FN, #shared3, #smem>, !ttg.memdesc<128x128xf32, #tmem1, #ttng.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #tmem_scales, #ttng.tensor_memory>, !ttg.memdesc<128x4xi8, #tmem_scales, #ttng.tensor_memory>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    tt.return
  }
  tt.func @take_over(%answer: !ttg.memdesc<2xi64, #shared1, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>) {
    ttng.clc_try_cancel %answer, %bar : !ttg.memdesc<2xi64, #shared1, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %0 = ttng.clc_load_result %answer : !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> i128
    %1 = ttng.clc_is_canceled %0 : i128 -> i1
    %2 = ttng.clc_get_program_id %0, y : i128 -> i32
    %3 = ttng.clc_try_cancel_sync : tensor<2xi64, #pairs>
    tt.return
  }
}

// -----
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @clusters(%x: tensor<256xf32, #blocked>, %buffer: !ttg.memdesc<256xf32, #shared, #smem, mutable>, %bar: !ttg.memdesc<2xi64, #shared, #smem, mutable>) {
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier
    ttng.cluster_barrier {relaxed = true}
    ttng.arrive_barrier %bar, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #shared, #smem, mutable>
    ttng.async_shared_store %x, %buffer, %bar : tensor<256xf32, #blocked> -> !ttg.memdesc<256xf32, #shared, #smem, mutable>, !ttg.memdesc<2xi64, #shared, #smem, mutable>
    tt.return
  }
}

// -----
// Older texts: the two halves of the barrier of a cluster.
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func public @halves() {
    ttng.cluster_arrive {relaxed = true}
    ttng.cluster_wait
    tt.return
  }
}
