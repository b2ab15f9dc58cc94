// RUN: licm
// The multiplication is loop-invariant; the addition is not.
tt.func public @scale(%p: !tt.ptr<i32>, %n: i32, %x: i32) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  scf.for %i = %c0_i32 to %n step %c1_i32 : i32 {
    %square = arith.muli %x, %x : i32
    %value = arith.addi %square, %i : i32
    tt.store %p, %value : !tt.ptr<i32>
  }
  tt.return
}
// OUTPUT
// module {
//   tt.func public @scale(%p: !tt.ptr<i32>, %n: i32, %x: i32) {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %square = arith.muli %x, %x : i32
//     scf.for %i = %c0_i32 to %n step %c1_i32  : i32 {
//       %value = arith.addi %square, %i : i32
//       tt.store %p, %value : !tt.ptr<i32>
//     }
//     tt.return
//   }
// }
