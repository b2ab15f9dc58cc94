// RUN: canonicalize
// Each function is named after the rule it is for.
tt.func public @branch_known(%p: i1, %q: !tt.ptr<i32>) {
  %t = arith.constant true
  %c1 = arith.constant 1 : i32
  cf.cond_br %t, ^a, ^b
  ^a:
    tt.store %q, %c1 : !tt.ptr<i32>
    cf.cond_br %p, ^c(%c1 : i32), ^c(%c1 : i32)
  ^c(%v: i32):
    tt.store %q, %v : !tt.ptr<i32>
    tt.return
  ^b:
    tt.return
}
tt.func public @branch_to_one_block(%p: i1, %x: i32, %y: i32, %q: !tt.ptr<i32>) {
    cf.cond_br %p, ^a(%x, %y : i32, i32), ^a(%y, %y : i32, i32)
  ^a(%v: i32, %w: i32):
    tt.store %q, %v : !tt.ptr<i32>
    tt.store %q, %w : !tt.ptr<i32>
    tt.return
}
// Where both ways meet again nothing is known.
tt.func public @branch_truth(%p: i1, %q: !tt.ptr<i1>) {
  cf.cond_br %p, ^a, ^b
  ^a:
    tt.store %q, %p : !tt.ptr<i1>
    cf.br ^c
  ^b:
    tt.store %q, %p : !tt.ptr<i1>
    cf.br ^c
  ^c:
    tt.store %q, %p : !tt.ptr<i1>
    tt.return
}
// OUTPUT
// module {
//   tt.func public @branch_known(%p: i1, %q: !tt.ptr<i32>) {
//     %c1 = arith.constant 1 : i32
//     tt.store %q, %c1 : !tt.ptr<i32>
//     tt.store %q, %c1 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @branch_to_one_block(%p: i1, %x: i32, %y: i32, %q: !tt.ptr<i32>) {
//     %0 = arith.select %p, %x, %y : i32
//     tt.store %q, %0 : !tt.ptr<i32>
//     tt.store %q, %y : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @branch_truth(%p: i1, %q: !tt.ptr<i1>) {
//     %false = arith.constant false
//     %true = arith.constant true
//     cf.cond_br %p, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     tt.store %q, %true : !tt.ptr<i1>
//     cf.br ^bb3
//   ^bb2:  // pred: ^bb0
//     tt.store %q, %false : !tt.ptr<i1>
//     cf.br ^bb3
//   ^bb3:  // 2 preds: ^bb1, ^bb2
//     tt.store %q, %p : !tt.ptr<i1>
//     tt.return
//   }
// }
