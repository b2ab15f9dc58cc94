// RUN: loop-unroll
// Eight iterations become four, of two each, with no remainder.
tt.func public @fill(%p: !tt.ptr<i32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c8_i32 = arith.constant 8 : i32
  scf.for %i = %c0_i32 to %c8_i32 step %c1_i32 : i32 {
    %at = tt.addptr %p, %i : !tt.ptr<i32>, i32
    tt.store %at, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}
// OUTPUT
// module {
//   tt.func public @fill(%p: !tt.ptr<i32>) {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c8_i32 = arith.constant 8 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %0 = arith.muli %c1_i32, %c2_i32 : i32
//     scf.for %i = %c0_i32 to %c8_i32 step %0  : i32 {
//       %at = tt.addptr %p, %i : !tt.ptr<i32>, i32
//       tt.store %at, %i : !tt.ptr<i32>
//       %1 = arith.addi %i, %c1_i32 : i32
//       %at_0 = tt.addptr %p, %1 : !tt.ptr<i32>, i32
//       tt.store %at_0, %1 : !tt.ptr<i32>
//     }
//     tt.return
//   }
// }
