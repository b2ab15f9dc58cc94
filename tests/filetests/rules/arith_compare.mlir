// RUN: canonicalize
// Each function is named after the rule it is for.
tt.func public @fold_integer_comparison(%x: i32, %y: i32) -> (i1, i1, i1) {
  %c1 = arith.constant 1 : i32
  %m1 = arith.constant -1 : i32
  %a = arith.cmpi slt, %m1, %c1 : i32
  %b = arith.cmpi ult, %m1, %c1 : i32
  %c = arith.cmpi sle, %x, %x : i32
  tt.return %a, %b, %c : i1, i1, i1
}
tt.func public @comparison_constant_right(%x: i32, %y: i32) -> i1 {
  %c2 = arith.constant 2 : i32
  %a = arith.cmpi slt, %c2, %x : i32
  tt.return %a : i1
}
tt.func public @comparison_with_extreme(%x: i32, %y: i32) -> (i1, i1) {
  %c0 = arith.constant 0 : i32
  %a = arith.cmpi ult, %x, %c0 : i32
  %b = arith.cmpi slt, %x, %c0 : i32
  tt.return %a, %b : i1, i1
}
tt.func public @compare_boolean(%p: i1) -> (i1, i1) {
  %t = arith.constant true
  %f = arith.constant false
  %a = arith.cmpi eq, %p, %t : i1
  %b = arith.cmpi eq, %p, %f : i1
  tt.return %a, %b : i1, i1
}
// 200 is no signed number of 8 bits; extensions of two kinds, or of two types, are compared as they are.
tt.func public @compare_extended(%p: i8, %x: i32, %y: i32) -> (i1, i1, i1, i1, i1, i1, i1, i1) {
  %c0 = arith.constant 0 : i32
  %c200 = arith.constant 200 : i32
  %w = arith.extsi %p : i8 to i32
  %z = arith.extui %p : i8 to i32
  %a = arith.cmpi ne, %w, %c0 : i32
  %b = arith.cmpi sgt, %w, %c0 : i32
  %c = arith.cmpi slt, %z, %c200 : i32
  %d = arith.cmpi slt, %w, %c200 : i32
  %sx = arith.extsi %x : i32 to i64
  %sy = arith.extsi %y : i32 to i64
  %ux = arith.extui %x : i32 to i64
  %uy = arith.extui %y : i32 to i64
  %sp = arith.extsi %p : i8 to i64
  %e = arith.cmpi slt, %sx, %sy : i64
  %f = arith.cmpi slt, %ux, %uy : i64
  %g = arith.cmpi slt, %sx, %uy : i64
  %h = arith.cmpi slt, %sx, %sp : i64
  tt.return %a, %b, %c, %d, %e, %f, %g, %h : i1, i1, i1, i1, i1, i1, i1, i1
}
// The sum may wrap, so that order says nothing.
tt.func public @compare_sum(%x: i32, %y: i32) -> (i1, i1) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %s = arith.addi %x, %c2 : i32
  %a = arith.cmpi eq, %s, %c3 : i32
  %b = arith.cmpi slt, %s, %c3 : i32
  tt.return %a, %b : i1, i1
}
tt.func public @not_of_comparison(%x: i32, %y: i32, %u: f32, %v: f32) -> (i1, i1) {
  %t = arith.constant true
  %a = arith.cmpi slt, %x, %y : i32
  %b = arith.xori %a, %t : i1
  %c = arith.cmpf olt, %u, %v : f32
  %d = arith.xori %c, %t : i1
  tt.return %b, %d : i1, i1
}
// Whether a number equals itself depends on whether it is NaN.
tt.func public @fold_float_comparison(%u: f32) -> (i1, i1, i1) {
  %one = arith.constant 1.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %a = arith.cmpf ult, %one, %nan : f32
  %b = arith.cmpf ueq, %u, %u : f32
  %c = arith.cmpf oeq, %u, %u : f32
  tt.return %a, %b, %c : i1, i1, i1
}
tt.func public @select_known(%p: i1, %x: i32, %y: i32) -> (i32, i32) {
  %t = arith.constant true
  %a = arith.select %t, %x, %y : i32
  %b = arith.select %p, %y, %y : i32
  tt.return %a, %b : i32, i32
}
tt.func public @select_boolean(%p: i1) -> (i1, i1) {
  %t = arith.constant true
  %f = arith.constant false
  %a = arith.select %p, %t, %f : i1
  %b = arith.select %p, %f, %t : i1
  tt.return %a, %b : i1, i1
}
tt.func public @select_negated(%p: i1, %x: i32, %y: i32) -> i32 {
  %t = arith.constant true
  %n = arith.xori %p, %t : i1
  %a = arith.select %n, %x, %y : i32
  tt.return %a : i32
}
tt.func public @select_of_select(%p: i1, %q: i1, %x: i32, %y: i32) -> (i32, i32) {
  %c2 = arith.constant 2 : i32
  %s = arith.select %p, %x, %y : i32
  %a = arith.select %p, %s, %c2 : i32
  %b = arith.select %q, %s, %c2 : i32
  tt.return %a, %b : i32, i32
}
// OUTPUT
// module {
//   tt.func public @fold_integer_comparison(%x: i32, %y: i32) -> (i1, i1, i1) {
//     %true = arith.constant true
//     %false = arith.constant false
//     tt.return %true, %false, %true : i1, i1, i1
//   }
//   tt.func public @comparison_constant_right(%x: i32, %y: i32) -> i1 {
//     %c2 = arith.constant 2 : i32
//     %a = arith.cmpi sgt, %x, %c2 : i32
//     tt.return %a : i1
//   }
//   tt.func public @comparison_with_extreme(%x: i32, %y: i32) -> (i1, i1) {
//     %c0 = arith.constant 0 : i32
//     %false = arith.constant false
//     %b = arith.cmpi slt, %x, %c0 : i32
//     tt.return %false, %b : i1, i1
//   }
//   tt.func public @compare_boolean(%p: i1) -> (i1, i1) {
//     %true = arith.constant true
//     %b = arith.xori %p, %true : i1
//     tt.return %p, %b : i1, i1
//   }
//   tt.func public @compare_extended(%p: i8, %x: i32, %y: i32) -> (i1, i1, i1, i1, i1, i1, i1, i1) {
//     %c200 = arith.constant 200 : i32
//     %c0_i8 = arith.constant 0 : i8
//     %c-56_i8 = arith.constant -56 : i8
//     %w = arith.extsi %p : i8 to i32
//     %a = arith.cmpi ne, %p, %c0_i8 : i8
//     %b = arith.cmpi sgt, %p, %c0_i8 : i8
//     %c = arith.cmpi ult, %p, %c-56_i8 : i8
//     %d = arith.cmpi slt, %w, %c200 : i32
//     %sx = arith.extsi %x : i32 to i64
//     %uy = arith.extui %y : i32 to i64
//     %sp = arith.extsi %p : i8 to i64
//     %e = arith.cmpi slt, %x, %y : i32
//     %f = arith.cmpi ult, %x, %y : i32
//     %g = arith.cmpi slt, %sx, %uy : i64
//     %h = arith.cmpi slt, %sx, %sp : i64
//     tt.return %a, %b, %c, %d, %e, %f, %g, %h : i1, i1, i1, i1, i1, i1, i1, i1
//   }
//   tt.func public @compare_sum(%x: i32, %y: i32) -> (i1, i1) {
//     %c2 = arith.constant 2 : i32
//     %c3 = arith.constant 3 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %s = arith.addi %x, %c2 : i32
//     %a = arith.cmpi eq, %x, %c1_i32 : i32
//     %b = arith.cmpi slt, %s, %c3 : i32
//     tt.return %a, %b : i1, i1
//   }
//   tt.func public @not_of_comparison(%x: i32, %y: i32, %u: f32, %v: f32) -> (i1, i1) {
//     %b = arith.cmpi sge, %x, %y : i32
//     %d = arith.cmpf uge, %u, %v : f32
//     tt.return %b, %d : i1, i1
//   }
//   tt.func public @fold_float_comparison(%u: f32) -> (i1, i1, i1) {
//     %true = arith.constant true
//     %c = arith.cmpf oeq, %u, %u : f32
//     tt.return %true, %true, %c : i1, i1, i1
//   }
//   tt.func public @select_known(%p: i1, %x: i32, %y: i32) -> (i32, i32) {
//     tt.return %x, %y : i32, i32
//   }
//   tt.func public @select_boolean(%p: i1) -> (i1, i1) {
//     %t = arith.constant true
//     %b = arith.xori %p, %t : i1
//     tt.return %p, %b : i1, i1
//   }
//   tt.func public @select_negated(%p: i1, %x: i32, %y: i32) -> i32 {
//     %a = arith.select %p, %y, %x : i32
//     tt.return %a : i32
//   }
//   tt.func public @select_of_select(%p: i1, %q: i1, %x: i32, %y: i32) -> (i32, i32) {
//     %c2 = arith.constant 2 : i32
//     %s = arith.select %p, %x, %y : i32
//     %a = arith.select %p, %x, %c2 : i32
//     %b = arith.select %q, %s, %c2 : i32
//     tt.return %a, %b : i32, i32
//   }
// }
