// RUN: canonicalize
// A loop of blocks: what is always %x is %x, what only feeds itself goes, and so does the block that only passes on.
tt.func public @blocks(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%c0, %x, %x, %c0 : i32, i32, i32, i32)
^head(%i: i32, %y: i32, %dead: i32, %dead2: i32):
  %go = arith.cmpi slt, %i, %x : i32
  cf.cond_br %go, ^body, ^out
^body:
  %j = arith.addi %i, %c1 : i32
  %d = arith.muli %dead, %dead2 : i32
  cf.br ^back(%j, %y, %d, %dead : i32, i32, i32, i32)
^back(%a: i32, %b: i32, %c: i32, %e: i32):
  cf.br ^head(%a, %b, %c, %e : i32, i32, i32, i32)
^out:
  tt.store %o, %y : !tt.ptr<i32>
  tt.store %o, %i : !tt.ptr<i32>
  tt.return
}
// Equal blocks stay two, unless merging is asked for.
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
// OUTPUT
// module {
//   tt.func public @blocks(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     cf.br ^bb1(%c0 : i32)
//   ^bb1(%i: i32):  // 2 preds: ^bb0, ^bb2
//     %go = arith.cmpi slt, %i, %x : i32
//     cf.cond_br %go, ^bb2, ^bb3
//   ^bb2:  // pred: ^bb1
//     %j = arith.addi %i, %c1 : i32
//     cf.br ^bb1(%j : i32)
//   ^bb3:  // pred: ^bb1
//     tt.store %o, %x : !tt.ptr<i32>
//     tt.store %o, %i : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @same(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
//     cf.cond_br %p, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     %y = arith.addi %x, %x : i32
//     tt.store %o, %y : !tt.ptr<i32>
//     tt.return
//   ^bb2:  // pred: ^bb0
//     %z = arith.addi %x, %x : i32
//     tt.store %o, %z : !tt.ptr<i32>
//     tt.return
//   }
// }
