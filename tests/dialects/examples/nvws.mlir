#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:0", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @aref_get(%arg0: !ttg.memdesc<1x64x16xf16, #shared, #smem>, %arg1: !ttg.memdesc<1x16x32xf16, #shared, #smem>, %arg2: !ttg.memdesc<16x32xf16, #shared, #smem>, %arg3: !tt.tensordesc<64x16xf16, #shared>, %arg4: !tt.tensordesc<1x16xf16, #shared>, %arg5: !ttg.memdesc<64x16xf16, #shared, #smem, mutable>, %arg6: tensor<64xi32>) {
    %c0_i32 = arith.constant {ttg.partition = array<i32: 0, 1>} 0 : i32
    %0 = nvws.aref.create %arg0, %arg1 : <[!ttg.memdesc<1x64x16xf16, #shared, #smem>, !ttg.memdesc<1x16x32xf16, #shared, #smem>]>
    %buffers:2, %token = nvws.aref.get.enter %0[%c0_i32, %c0_i32] : <[!ttg.memdesc<1x64x16xf16, #shared, #smem>, !ttg.memdesc<1x16x32xf16, #shared, #smem>]> -> !ttg.memdesc<64x16xf16, #shared, #smem>, !ttg.memdesc<16x32xf16, #shared, #smem>, !ttg.async.token
    nvws.aref.get.exit %0[%c0_i32], %token [#nvws.async_op<none>] : <[!ttg.memdesc<1x64x16xf16, #shared, #smem>, !ttg.memdesc<1x16x32xf16, #shared, #smem>]>, !ttg.async.token
    %buffers_0:2, %token_1 = nvws.aref.put.enter %0 : <[!ttg.memdesc<1x64x16xf16, #shared, #smem>, !ttg.memdesc<1x16x32xf16, #shared, #smem>]> -> !ttg.memdesc<64x16xf16, #shared, #smem>, !ttg.memdesc<16x32xf16, #shared, #smem>, !ttg.async.token
    %1:2 = nvws.aref.buffer %0, %token_1 : <[!ttg.memdesc<1x64x16xf16, #shared, #smem>, !ttg.memdesc<1x16x32xf16, #shared, #smem>]>, !ttg.async.token -> !ttg.memdesc<64x16xf16, #shared, #smem>, !ttg.memdesc<16x32xf16, #shared, #smem>
    %2:2 = nvws.aref.buffer %0[%c0_i32], %token_1 : <[!ttg.memdesc<1x64x16xf16, #shared, #smem>, !ttg.memdesc<1x16x32xf16, #shared, #smem>]>, !ttg.async.token -> !ttg.memdesc<64x16xf16, #shared, #smem>, !ttg.memdesc<16x32xf16, #shared, #smem>
    nvws.aref.put.exit %0, %token_1 [#nvws.async_op<tma_load>, #nvws.async_op<tc5mma>] : <[!ttg.memdesc<1x64x16xf16, #shared, #smem>, !ttg.memdesc<1x16x32xf16, #shared, #smem>]>, !ttg.async.token
    %4 = arith.constant 7 : i32
    nvws.warp_group
    partition0 num_warps(8) {
      nvws.warp_group.return
    }
    partition1 num_warps(4) {
      nvws.warp_group.return
    }
    nvws.warp_group attributes {k = 1 : i32}
    partition0 num_warps(4) {
      nvws.warp_group.return
    }
    %5:2 = nvws.warp_group
    partition0 num_warps(4) {
      nvws.warp_group.yield %4, %4 : i32, i32
    } -> (i32, i32)
    %6 = nvws.create_token {loadType = 1 : i32, numBuffers = 3 : i32} : tensor<3x!nvws.token>
    %false = arith.constant {async_task_id = dense<0> : vector<1xi32>} false
    nvws.producer_acquire %6, %c0_i32, %false {async_task_id = dense<0> : vector<1xi32>} : tensor<3x!nvws.token>, i32, i1
    nvws.producer_commit %6, %c0_i32 : tensor<3x!nvws.token>, i32
    nvws.consumer_wait %6, %c0_i32, %false : tensor<3x!nvws.token>, i32, i1
    nvws.consumer_release %6, %c0_i32 : tensor<3x!nvws.token>, i32
    nvws.descriptor_load %arg3[%c0_i32, %c0_i32] 2048 %arg5 : !tt.tensordesc<64x16xf16, #shared>, i32, i32, !ttg.memdesc<64x16xf16, #shared, #smem, mutable>
    nvws.descriptor_gather %arg4[%arg6, %c0_i32] 2048 %arg5 : !tt.tensordesc<1x16xf16, #shared>, tensor<64xi32>, i32, !ttg.memdesc<64x16xf16, #shared, #smem, mutable>
    %c1_i32 = arith.constant {ttg.partition = array<i32: 0>} 1 : i32
    %c2_i32 = arith.constant {ttg.partition = array<i32: 1>} 2 : i32
    %7 = nvws.aref.phi %c1_i32, %c2_i32 {ttg.partition = array<i32: 0, 1>} : i32
    nvws.clc_try_cancel %arg5 : !ttg.memdesc<64x16xf16, #shared, #smem, mutable>
    tt.return
  }
}

