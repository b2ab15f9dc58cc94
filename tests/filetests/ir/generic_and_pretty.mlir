// RUN: print
// The two forms of an operation read as the same, also mixed.
"builtin.module"() ({
  "tt.func"() <{function_type = (!tt.ptr<f32>, i32) -> (), sym_name = "f", sym_visibility = "public"}> ({
  ^bb0(%p: !tt.ptr<f32>, %n: i32):
    %0 = "arith.cmpi"(%n, %n) <{predicate = 6 : i64}> : (i32, i32) -> i1
    %1 = tt.load %p, %0 : !tt.ptr<f32>
    "tt.store"(%p, %1, %0) : (!tt.ptr<f32>, f32, i1) -> ()
    tt.return
  }) : () -> ()
}) : () -> ()
// OUTPUT
// module {
//   tt.func public @f(%p: !tt.ptr<f32>, %n: i32) {
//     %0 = arith.cmpi ult, %n, %n : i32
//     %1 = tt.load %p, %0 : !tt.ptr<f32>
//     tt.store %p, %1, %0 : !tt.ptr<f32>
//     tt.return
//   }
// }
