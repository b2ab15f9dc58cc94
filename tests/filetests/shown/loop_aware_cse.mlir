// RUN: loop-aware-cse
// Both carried values have the same initial value and increment, so one of them is enough.
tt.func public @twins(%n: i32, %p: !tt.ptr<i32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%a = %c0_i32, %b = %c0_i32) -> (i32, i32) : i32 {
    %sum = arith.muli %a, %b : i32
    tt.store %p, %sum : !tt.ptr<i32>
    %c = arith.addi %a, %i : i32
    %d = arith.addi %b, %i : i32
    scf.yield %c, %d : i32, i32
  }
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @twins(%n: i32, %p: !tt.ptr<i32>) {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %r = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%a = %c0_i32) -> (i32)  : i32 {
//       %sum = arith.muli %a, %a : i32
//       tt.store %p, %sum : !tt.ptr<i32>
//       %c = arith.addi %a, %i : i32
//       scf.yield %c : i32
//     }
//     tt.store %p, %r : !tt.ptr<i32>
//     tt.return
//   }
// }
