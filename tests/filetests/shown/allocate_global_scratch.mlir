// RUN: allocate-global-scratch
// Two allocations of 4 bytes, and one of 64 bytes at its alignment.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @notes(%n: i32) {
    %p = ttg.global_scratch_alloc {alignment = 4 : i32, nbytes = 8 : i32} : !tt.ptr<i32>
    %q = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 64 : i32} : !tt.ptr<i32>
    tt.store %p, %n : !tt.ptr<i32>
    tt.store %q, %n : !tt.ptr<i32>
    tt.return
  }
}
// OUTPUT
// module attributes {ttg.global_scratch_memory_alignment = 16 : i32, ttg.global_scratch_memory_size = 80 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
//   tt.func public @notes(%n: i32) {
//     %p = ttg.global_scratch_alloc {alignment = 4 : i32, nbytes = 8 : i32, ttg.global_scratch_memory_offset = 0 : i32} : !tt.ptr<i32>
//     %q = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 64 : i32, ttg.global_scratch_memory_offset = 16 : i32} : !tt.ptr<i32>
//     tt.store %p, %n : !tt.ptr<i32>
//     tt.store %q, %n : !tt.ptr<i32>
//     tt.return
//   }
// }
