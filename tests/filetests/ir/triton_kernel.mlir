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
// #loc = loc("/kernels/add.py":4:0)
// #loc5 = loc("x_ptr"(#loc))
// #loc6 = loc("n_elements"(#loc))
// module {
//   tt.func public @add_kernel(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x_ptr"(#loc)), %n_elements: i32 {tt.divisibility = 16 : i32} loc("n_elements"(#loc))) attributes {noinline = false} {
//     %c1024_i32 = arith.constant 1024 : i32 loc(#loc1)
//     %pid = tt.get_program_id x : i32 loc(#loc7)
//     %block_start = arith.muli %pid, %c1024_i32 : i32 loc(#loc9)
//     tt.return loc(#loc4)
//   } loc(#loc)
// } loc(#loc)
// #loc1 = loc(unknown)
// #loc2 = loc("/kernels/add.py":13:24)
// #loc3 = loc("/kernels/add.py":18:24)
// #loc4 = loc("/kernels/add.py":28:4)
// #loc7 = loc("pid"(#loc2))
// #loc8 = loc(callsite(#loc3 at #loc4))
// #loc9 = loc("block_start"(#loc8))
