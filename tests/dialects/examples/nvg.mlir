module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @instructions(%a: i64, %b: i64, %c: i1, %d: !llvm.struct<(f32, f32, f32, f32)>, %p: !llvm.ptr<1>) {
    %0 = nvg.cluster_id
    %1 = nvg.warp_group_barrier_id
    %2 = nvg.tensor_memory_base
    %3 = nvg.wgmma %a, %b, %c, %d {eltTypeA = 4 : i32, eltTypeB = 4 : i32, eltTypeC = 7 : i32, k = 16 : i32, layoutA = 0 : i32, layoutB = 1 : i32, m = 64 : i32, n = 8 : i32} : (i64, i64, i1, !llvm.struct<(f32, f32, f32, f32)>) -> !llvm.struct<(f32, f32, f32, f32)>
    %4 = nvg.wgmma_wait_group %3 {pendings = 0 : i32} : !llvm.struct<(f32, f32, f32, f32)>
    %5 = nvg.ld_acquire acquire, gpu, %p : (!llvm.ptr<1>) -> i32
    %6 = nvg.ld_acquire relaxed, sys, %p, %c : (!llvm.ptr<1>) -> f32
    tt.return
  }
}
