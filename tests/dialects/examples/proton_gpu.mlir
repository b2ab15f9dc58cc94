#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32} {
  tt.func @profile(%buffer: !ttg.memdesc<64xi32, #shared, #smem, mutable>, %scratch: !tt.ptr<i32>) {
    %0 = proton_gpu.segment_alloc %buffer : !ttg.memdesc<64xi32, #shared, #smem, mutable> -> <256, #smem, warp, [0, 1]>
    %1 = proton_gpu.segment_alloc %scratch : !tt.ptr<i32> -> <256, #proton_gpu.global_memory, warp_group_2>
    proton_gpu.initialize %scratch : !tt.ptr<i32>
    proton_gpu.init_ctx %scratch : !tt.ptr<i32>
    proton_gpu.restore_ctx %0, %scratch : !proton_gpu.segment<256, #smem, warp, [0, 1]>, !tt.ptr<i32>
    %2 = proton_gpu.read_counter : i32
    %3 = proton_gpu.read_counter : i64
    proton_gpu.circular_store start %0, %2 {scopeId = 0 : i32} : !proton_gpu.segment<256, #smem, warp, [0, 1]>, i32
    proton_gpu.circular_store end %1, %3 {scopeId = 0 : i32} : !proton_gpu.segment<256, #proton_gpu.global_memory, warp_group_2>, i64
    proton_gpu.save_ctx %0, %scratch : !proton_gpu.segment<256, #smem, warp, [0, 1]>, !tt.ptr<i32>
    proton_gpu.finalize %0, %scratch : !proton_gpu.segment<256, #smem, warp, [0, 1]>, !tt.ptr<i32>
    tt.return
  }
}
