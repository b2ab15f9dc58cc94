// RUN: sccp, canonicalize
// The loop-carried value starts as 4 and never changes, so it is 4 in the loop and after it.
tt.func public @constant(%n: i32, %p: !tt.ptr<i32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c4_i32 = arith.constant 4 : i32
  %r = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%x = %c4_i32) -> (i32) : i32 {
    %zero = arith.subi %x, %c4_i32 : i32
    %next = arith.addi %x, %zero : i32
    tt.store %p, %next : !tt.ptr<i32>
    scf.yield %next : i32
  }
  tt.store %p, %r : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @constant(%n: i32, %p: !tt.ptr<i32>) {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c4_i32 = arith.constant 4 : i32
//     scf.for %i = %c0_i32 to %n step %c1_i32  : i32 {
//       tt.store %p, %c4_i32 : !tt.ptr<i32>
//     }
//     tt.store %p, %c4_i32 : !tt.ptr<i32>
//     tt.return
//   }
// }
