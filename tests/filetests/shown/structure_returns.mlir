// RUN: structure-returns
// An early return becomes a branch that yields the returned value.
tt.func public @clamp(%x: i32, %limit: i32) -> i32 {
  %over = arith.cmpi sgt, %x, %limit : i32
  cf.cond_br %over, ^early, ^late
^early:
  tt.return %limit : i32
^late:
  %double = arith.addi %x, %x : i32
  tt.return %double : i32
}
// OUTPUT
// module {
//   tt.func public @clamp(%x: i32, %limit: i32) -> i32 {
//     %over = arith.cmpi sgt, %x, %limit : i32
//     %0 = scf.if %over -> (i32) {
//       scf.yield %limit : i32
//     } else {
//       %double = arith.addi %x, %x : i32
//       scf.yield %double : i32
//     }
//     tt.return %0 : i32
//   }
// }
