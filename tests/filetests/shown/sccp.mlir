// RUN: sccp, canonicalize
// The loop starts from 4 and adds nothing to it, so it is 4 inside and behind the loop too.
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
