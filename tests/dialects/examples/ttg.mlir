#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [16, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#shared3 = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#shared4 = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]}, alignment = 16>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @layouts(%x: tensor<32x32xf16, #blocked>, %packed: tensor<32x32xi8, #blocked>) {
    %0 = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #linear>
    %1 = ttg.convert_layout %x {force_warp_shuffle} : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #blocked3>
    %x1 = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #blocked1>
    %2 = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %3 = ttg.fp4_to_fp %packed {axis = 1 : i32} : tensor<32x32xi8, #blocked> -> tensor<32x64xf16, #blocked2>
    tt.return
  }
  tt.func @buffers(%x: tensor<32x32xf16, #blocked>, %i: i32) {
    %0 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf16, #shared2, #smem, mutable>
    %2 = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<32x32xf16, #shared3, #smem, mutable>
    %3 = ttg.memdesc_index %1[%i] : !ttg.memdesc<3x32x32xf16, #shared2, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared2, #smem, mutable>
    ttg.local_store %x, %3 : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared2, #smem, mutable>
    %4 = ttg.local_load %3 : !ttg.memdesc<32x32xf16, #shared2, #smem, mutable> -> tensor<32x32xf16, #blocked>
    %5 = ttg.memdesc_subslice %0[0, 16] : !ttg.memdesc<32x32xf16, #shared, #smem> -> !ttg.memdesc<32x16xf16, #shared, #smem, 32x32>
    %6 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<32x32xf16, #shared, #smem> -> !ttg.memdesc<32x32xf16, #shared1, #smem>
    %7 = ttg.memdesc_reshape %0 : !ttg.memdesc<32x32xf16, #shared, #smem> -> !ttg.memdesc<64x16xf16, #shared4, #smem>
    %8 = ttg.memdesc_reinterpret %0 : !ttg.memdesc<32x32xf16, #shared, #smem> -> !ttg.memdesc<16x32xi32, #shared, #smem>
    ttg.local_dealloc %1 : !ttg.memdesc<3x32x32xf16, #shared2, #smem, mutable>
    tt.return
  }
  tt.func @indexed(%x: tensor<32x32xi32, #blocked>, %i: tensor<32x32xi32, #blocked>, %mask: tensor<32x32xi1, #blocked>) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<32x32xi32, #shared, #smem, mutable>
    %1 = ttg.local_gather %0[%i] {axis = 0 : i32} : !ttg.memdesc<32x32xi32, #shared, #smem, mutable>, tensor<32x32xi32, #blocked> -> tensor<32x32xi32, #blocked>
    ttg.local_scatter %0[%i], %x {axis = 1 : i32} : !ttg.memdesc<32x32xi32, #shared, #smem, mutable>, tensor<32x32xi32, #blocked>, tensor<32x32xi32, #blocked>
    %2 = ttg.local_atomic_scatter_rmw add, %0[%i], %x, %mask {axis = 1 : i32} : (!ttg.memdesc<32x32xi32, #shared, #smem, mutable>, tensor<32x32xi32, #blocked>, tensor<32x32xi32, #blocked>, tensor<32x32xi1, #blocked>) -> tensor<32x32xi32, #blocked>
    %3 = ttg.local_atomic_scatter_rmw umax, %0[%i], %x {axis = 0 : i32} : (!ttg.memdesc<32x32xi32, #shared, #smem, mutable>, tensor<32x32xi32, #blocked>, tensor<32x32xi32, #blocked>) -> tensor<32x32xi32, #blocked>
    tt.return
  }
  tt.func @copies(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %mask: tensor<32x32xi1, #blocked>, %other: tensor<32x32xf16, #blocked>) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %1 = ttg.async_copy_global_to_local %p, %0 : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #shared, #smem, mutable>
    %2 = ttg.async_copy_global_to_local %p, %0 mask %mask other %other {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>, contiguity = 4 : i32, isVolatile = true} : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #shared, #smem, mutable>
    %3 = ttg.async_commit_group tokens %1, %2
    %4 = ttg.async_commit_group
    %5 = ttg.async_wait %3, %4 {num = 1 : i32}
    %6 = ttg.local_load %0 token %5 : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
    %7 = ttg.async_wait {num = 0 : i32}
    tt.return
  }
  tt.func @warps(%a: i32) -> i32 {
    %0 = ttg.warp_id
    %1 = ttg.warp_id {omitUniformHint}
    %2 = ttg.warp_specialize(%a, %0)
    default {
      %3 = arith.addi %a, %0 : i32
      ttg.warp_yield %3 : i32
    }
    partition0(%arg1: i32, %arg2: i32) num_warps(8) {
      ttg.barrier local
      ttg.warp_return
    }
    partition1(%arg1: i32, %arg2: i32) num_warps(1) {
      %3 = arith.muli %arg1, %arg2 : i32
      ttg.warp_return
    } : (i32, i32) -> i32
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24>, warpGroupStartIds = array<i32: 4>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return %2 : i32
  }
  tt.func @rest(%a: i32, %c: i1, %x: tensor<32x32xi32, #blocked>) {
    ttg.barrier none
    ttg.barrier local|global_read|tensor_write
    ttg.barrier all
    %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
    %1 = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 16 : i32, shared_cluster_state, third_party_allocation} : !tt.ptr<i8>
    %2 = ttg.inline_asm "add.s32 $0, $1, $2;" {constraints = "=r,r,r", pure = true} %x, %a : (tensor<32x32xi32, #blocked>, i32) -> tensor<32x32xi32, #blocked>
    ttg.inline_asm "bar.sync 0;" {constraints = "", pure = false} : () -> ()
    %3 = ttg.predicate_stage %a, %a, %a maxStage 2 stage 1 : i32 -> i1
    %4 = "ttg.mask"(%c) ({
      %5 = arith.addi %a, %a : i32
      ttg.mask.return %5 : i32
    }) : (i1) -> i32
    tt.return
  }
}
