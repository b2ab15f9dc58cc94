// RUN: loop-unroll, canonicalize
tt.func public @even(%o: !tt.ptr<i32>, %x: i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %s = scf.for %i = %c0 to %c16 step %c2 iter_args(%a = %x) -> (i32) : i32 {
    %b = arith.muli %a, %i : i32
    scf.yield %b : i32
  } {tt.loop_unroll_factor = 4 : i32, tt.num_stages = 2 : i32}
  tt.store %o, %s : !tt.ptr<i32>
  tt.return
}
tt.func public @rest(%o: !tt.ptr<i32>, %x: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %b = arith.muli %a, %i : i32
    scf.yield %b : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.store %o, %s : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @even(%o: !tt.ptr<i32>, %x: i32) {
//     %c0 = arith.constant 0 : i32
//     %c2 = arith.constant 2 : i32
//     %c16 = arith.constant 16 : i32
//     %c8_i32 = arith.constant 8 : i32
//     %c4_i32 = arith.constant 4 : i32
//     %c6_i32 = arith.constant 6 : i32
//     %0 = scf.for %i = %c0 to %c16 step %c8_i32 iter_args(%a = %x) -> (i32)  : i32 {
//       %b = arith.muli %a, %i : i32
//       %1 = arith.addi %i, %c2 : i32
//       %b_0 = arith.muli %b, %1 : i32
//       %2 = arith.addi %i, %c4_i32 : i32
//       %b_1 = arith.muli %b_0, %2 : i32
//       %3 = arith.addi %i, %c6_i32 : i32
//       %b_2 = arith.muli %b_1, %3 : i32
//       scf.yield %b_2 : i32
//     } {tt.num_stages = 2 : i32}
//     tt.store %o, %0 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @rest(%o: !tt.ptr<i32>, %x: i32, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %0 = arith.maxsi %n, %c0 : i32
//     %1 = arith.remui %0, %c2_i32 : i32
//     %2 = arith.subi %0, %1 : i32
//     %3 = scf.for %i = %c0 to %2 step %c2_i32 iter_args(%a = %x) -> (i32)  : i32 {
//       %b = arith.muli %a, %i : i32
//       %5 = arith.addi %i, %c1 : i32
//       %b_0 = arith.muli %b, %5 : i32
//       scf.yield %b_0 : i32
//     }
//     %4 = scf.for %i = %2 to %n step %c1 iter_args(%a = %3) -> (i32)  : i32 {
//       %b = arith.muli %a, %i : i32
//       scf.yield %b : i32
//     } {tt.num_stages = 1 : i32}
//     tt.store %o, %4 : !tt.ptr<i32>
//     tt.return
//   }
// }
