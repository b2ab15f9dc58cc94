// RUN: allocate-global-scratch
// The part of each program is aligned; the memory of a callee is in that of its caller.
// CHECK: ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 384 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @inner
  tt.func private @inner() {
    // CHECK: ttg.global_scratch_memory_offset = 0 : i32
    %p = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 100 : i32} : !tt.ptr<i8>
    tt.return
  }
  // CHECK-LABEL: @kernel
  tt.func public @kernel() {
    // CHECK: ttg.global_scratch_memory_offset = 0 : i32
    %p = ttg.global_scratch_alloc {alignment = 4 : i32, nbytes = 4 : i32} : !tt.ptr<i32>
    // CHECK: ttg.global_scratch_memory_offset = 128 : i32
    %q = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i32>
    // CHECK: tt.call @inner() {ttg.global_scratch_memory_offset = 256 : i32}
    tt.call @inner() : () -> ()
    tt.return
  }
}
