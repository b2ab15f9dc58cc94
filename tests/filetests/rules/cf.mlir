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
    tt.return // END
}
// OUTPUT
// module {
//   tt.func public @branch_known(%p: i1, %q: !tt.ptr<i32>) {
//     %c1 = arith.constant 1 : i32
//     tt.store %q, %c1 : !tt.ptr<i32>
//     tt.store %q, %c1 : !tt.ptr<i32>
//     tt.return
//   }
// }
