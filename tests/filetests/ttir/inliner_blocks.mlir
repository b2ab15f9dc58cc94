// RUN: inliner, symbol-dce
tt.func private @early(%x: i32, %p: i1) -> i32 {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  tt.return %x : i32
^bb2:
  %y = arith.addi %x, %x : i32
  tt.return %y : i32
}
tt.func private @again(%x: i32) -> i32 {
  %y = tt.call @again(%x) : (i32) -> i32
  tt.return %y : i32
}
tt.func public @k(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
  %a = tt.call @early(%x, %p) : (i32, i1) -> i32
  tt.store %o, %a : !tt.ptr<i32>
  // A region of one block has no place for two; recursion is not inlined.
  scf.if %p {
    %b = tt.call @early(%a, %p) : (i32, i1) -> i32
    tt.store %o, %b : !tt.ptr<i32>
  }
  %c = tt.call @again(%x) : (i32) -> i32
  tt.return
}
// OUTPUT
// module {
//   tt.func private @early(%x: i32, %p: i1) -> i32 {
//     cf.cond_br %p, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     tt.return %x : i32
//   ^bb2:  // pred: ^bb0
//     %y = arith.addi %x, %x : i32
//     tt.return %y : i32
//   }
//   tt.func private @again(%x: i32) -> i32 {
//     %y = tt.call @again(%x) : (i32) -> i32
//     tt.return %y : i32
//   }
//   tt.func public @k(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
//     cf.cond_br %p, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     cf.br ^bb3(%x : i32)
//   ^bb2:  // pred: ^bb0
//     %y = arith.addi %x, %x : i32
//     cf.br ^bb3(%y : i32)
//   ^bb3(%a: i32):  // 2 preds: ^bb1, ^bb2
//     tt.store %o, %a : !tt.ptr<i32>
//     scf.if %p {
//       %b = tt.call @early(%a, %p) : (i32, i1) -> i32
//       tt.store %o, %b : !tt.ptr<i32>
//     }
//     %c = tt.call @again(%x) : (i32) -> i32
//     tt.return
//   }
// }
