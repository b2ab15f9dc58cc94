// RUN: canonicalize{region-simplify=aggressive}
// Equal blocks become one, and then the branch to one block has no condition.
tt.func public @same(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
  cf.cond_br %p, ^a, ^b
^a:
  %y = arith.addi %x, %x : i32
  tt.store %o, %y : !tt.ptr<i32>
  tt.return
^b:
  %z = arith.addi %x, %x : i32
  tt.store %o, %z : !tt.ptr<i32>
  tt.return
}
// Other operands, or a value that is used elsewhere: not equal.
tt.func public @different(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
  cf.cond_br %p, ^a, ^b
^a:
  %y = arith.addi %x, %x : i32
  tt.store %o, %y : !tt.ptr<i32>
  tt.return
^b:
  %z = arith.muli %x, %x : i32
  tt.store %o, %z : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @same(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
//     %y = arith.addi %x, %x : i32
//     tt.store %o, %y : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @different(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
//     cf.cond_br %p, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     %y = arith.addi %x, %x : i32
//     tt.store %o, %y : !tt.ptr<i32>
//     tt.return
//   ^bb2:  // pred: ^bb0
//     %z = arith.muli %x, %x : i32
//     tt.store %o, %z : !tt.ptr<i32>
//     tt.return
//   }
// }
