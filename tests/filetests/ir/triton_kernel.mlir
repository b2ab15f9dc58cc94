// RUN: locations
// The spelling of Triton's own dumps: locations of arguments, aliases before and after, names from the source.
#loc = loc("/kernels/add.py":4:0)
#loc15 = loc("x_ptr"(#loc))
module {
  tt.func public @add_kernel(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x_ptr"(#loc)), %n_elements: i32 {tt.divisibility = 16 : i32} loc("n_elements"(#loc))) attributes {noinline = false} {
    %c1024_i32 = arith.constant 1024 : i32 loc(#loc1)
    %pid = tt.get_program_id x : i32 loc(#loc17)
    %block_start = arith.muli %pid, %c1024_i32 : i32 loc(#loc18)
    tt.return loc(#loc14)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(unknown)
#loc2 = loc("/kernels/add.py":13:24)
#loc3 = loc("/kernels/add.py":18:24)
#loc14 = loc("/kernels/add.py":28:4)
#loc17 = loc("pid"(#loc2))
#loc18 = loc("block_start"(callsite(#loc3 at #loc14)))
// OUTPUT
// module {
//   tt.func public @add_kernel(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(#loc1), %n_elements: i32 {tt.divisibility = 16 : i32} loc(#loc2)) attributes {noinline = false} {
//     %c1024_i32 = arith.constant 1024 : i32 loc(#loc3)
//     %pid = tt.get_program_id x : i32 loc(#loc5)
//     %block_start = arith.muli %pid, %c1024_i32 : i32 loc(#loc9)
//     tt.return loc(#loc7)
//   } loc(#loc)
// } loc(#loc)
// #loc = loc("/kernels/add.py":4:0)
// #loc1 = loc("x_ptr"(#loc))
// #loc2 = loc("n_elements"(#loc))
// #loc3 = loc(unknown)
// #loc4 = loc("/kernels/add.py":13:24)
// #loc5 = loc("pid"(#loc4))
// #loc6 = loc("/kernels/add.py":18:24)
// #loc7 = loc("/kernels/add.py":28:4)
// #loc8 = loc(callsite(#loc6 at #loc7))
// #loc9 = loc("block_start"(#loc8))
