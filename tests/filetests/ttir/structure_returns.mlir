// RUN: structure-returns
// Two early returns nest.
tt.func @nested(%x: i32, %low: i32, %high: i32) -> i32 {
  %under = arith.cmpi slt, %x, %low : i32
  cf.cond_br %under, ^below, ^rest
^below:
  tt.return %low : i32
^rest:
  %over = arith.cmpi sgt, %x, %high : i32
  cf.cond_br %over, ^above, ^inside
^above:
  tt.return %high : i32
^inside:
  tt.return %x : i32
}
// A block with two predecessors is copied to both, with the operands of each branch.
tt.func @shared_exit(%p: !tt.ptr<i32>, %x: i32, %c: i1) {
  %c1 = arith.constant 1 : i32
  cf.cond_br %c, ^then, ^exit(%x : i32)
^then:
  %y = arith.addi %x, %c1 : i32
  cf.br ^exit(%y : i32)
^exit(%v: i32):
  tt.store %p, %v : !tt.ptr<i32>
  tt.return
}
// Nothing is returned: the scf.if has no results.
tt.func @no_value(%p: !tt.ptr<i32>, %x: i32, %c: i1) {
  cf.cond_br %c, ^stop, ^go
^stop:
  tt.return
^go:
  tt.store %p, %x : !tt.ptr<i32>
  tt.return
}
// Stays: a cycle of blocks is a loop, which nested branches cannot express.
tt.func @cycle(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^loop(%c0 : i32)
^loop(%i: i32):
  %next = arith.addi %i, %c1 : i32
  %more = arith.cmpi slt, %next, %n : i32
  cf.cond_br %more, ^loop(%next : i32), ^done
^done:
  tt.return %next : i32
}
// Stays: one block, with structured control flow in it.
tt.func @structured(%x: i32, %c: i1) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    %d = arith.addi %x, %x : i32
    scf.yield %d : i32
  }
  tt.return %r : i32
}
// OUTPUT
// module {
//   tt.func @nested(%x: i32, %low: i32, %high: i32) -> i32 {
//     %under = arith.cmpi slt, %x, %low : i32
//     %0 = scf.if %under -> (i32) {
//       scf.yield %low : i32
//     } else {
//       %over = arith.cmpi sgt, %x, %high : i32
//       %1 = scf.if %over -> (i32) {
//         scf.yield %high : i32
//       } else {
//         scf.yield %x : i32
//       }
//       scf.yield %1 : i32
//     }
//     tt.return %0 : i32
//   }
//   tt.func @shared_exit(%p: !tt.ptr<i32>, %x: i32, %c: i1) {
//     %c1 = arith.constant 1 : i32
//     scf.if %c {
//       %y = arith.addi %x, %c1 : i32
//       tt.store %p, %y : !tt.ptr<i32>
//     } else {
//       tt.store %p, %x : !tt.ptr<i32>
//     }
//     tt.return
//   }
//   tt.func @no_value(%p: !tt.ptr<i32>, %x: i32, %c: i1) {
//     scf.if %c {
//     } else {
//       tt.store %p, %x : !tt.ptr<i32>
//     }
//     tt.return
//   }
//   tt.func @cycle(%n: i32) -> i32 {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     cf.br ^bb1(%c0 : i32)
//   ^bb1(%i: i32):  // 2 preds: ^bb0, ^bb1
//     %next = arith.addi %i, %c1 : i32
//     %more = arith.cmpi slt, %next, %n : i32
//     cf.cond_br %more, ^bb1(%next : i32), ^bb2
//   ^bb2:  // pred: ^bb1
//     tt.return %next : i32
//   }
//   tt.func @structured(%x: i32, %c: i1) -> i32 {
//     %r = scf.if %c -> (i32) {
//       scf.yield %x : i32
//     } else {
//       %d = arith.addi %x, %x : i32
//       scf.yield %d : i32
//     }
//     tt.return %r : i32
//   }
// }
