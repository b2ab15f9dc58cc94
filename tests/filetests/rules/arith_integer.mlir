// RUN: canonicalize
// Each function is named after the rule it is for.
tt.func public @fold_integers(%x: i32, %y: i32) -> (i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %m1 = arith.constant -1 : i32
  %a = arith.muli %c2, %c3 : i32
  %b = arith.shli %c1, %c3 : i32
  %d = arith.divsi %m1, %c2 : i32
  %e = arith.divsi %x, %x : i32
  tt.return %a, %b, %d : i32, i32, i32
}
// A difference does not commute.
tt.func public @constant_right(%x: i32, %y: i32) -> (i32, i32) {
  %c3 = arith.constant 3 : i32
  %a = arith.addi %c3, %x : i32
  %b = arith.subi %c3, %x : i32
  tt.return %a, %b : i32, i32
}
tt.func public @zero_right(%x: i32, %y: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %a = arith.addi %x, %c0 : i32
  %b = arith.shrsi %y, %c0 : i32
  tt.return %a, %b : i32, i32
}
tt.func public @one_right(%x: i32, %y: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %a = arith.muli %x, %c1 : i32
  %b = arith.divsi %y, %c1 : i32
  tt.return %a, %b : i32, i32
}
tt.func public @annihilate(%x: i32, %y: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %a = arith.muli %x, %c0 : i32
  %b = arith.andi %y, %c0 : i32
  tt.return %a, %b : i32, i32
}
tt.func public @cancel(%x: i32, %y: i32) -> (i32, i32, i32) {
  %a = arith.subi %x, %x : i32
  %b = arith.xori %y, %y : i32
  %d = arith.subi %x, %y : i32
  tt.return %a, %b, %d : i32, i32, i32
}
tt.func public @idempotent(%x: i32, %y: i32) -> (i32, i32) {
  %a = arith.andi %x, %x : i32
  %b = arith.maxsi %y, %y : i32
  tt.return %a, %b : i32, i32
}
tt.func public @reassociate_constants(%x: i32, %y: i32) -> (i32, i32) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %a = arith.addi %x, %c2 : i32
  %b = arith.addi %a, %c3 : i32
  %d = arith.andi %y, %c3 : i32
  %e = arith.andi %d, %c2 : i32
  tt.return %b, %e : i32, i32
}
tt.func public @add_of_difference(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %a = arith.subi %x, %y : i32
  %b = arith.addi %a, %y : i32
  %d = arith.subi %c3, %x : i32
  %e = arith.addi %d, %c2 : i32
  %m1 = arith.constant -1 : i32
  %n = arith.muli %y, %m1 : i32
  %f = arith.addi %x, %n : i32
  %g = arith.addi %n, %c3 : i32
  tt.return %b, %e, %f, %g : i32, i32, i32, i32
}
tt.func public @quotient_rounded_up(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %q = arith.divsi %x, %c7 : i32
  %r = arith.remsi %x, %c7 : i32
  %p = arith.cmpi sgt, %r, %c0 : i32
  %e = arith.extui %p : i1 to i32
  %s = arith.addi %q, %e : i32
  tt.return %s : i32
}
tt.func public @difference_of_sum(%x: i32, %y: i32) -> (i32, i32) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %a = arith.addi %x, %y : i32
  %b = arith.subi %a, %x : i32
  %d = arith.addi %x, %c3 : i32
  %e = arith.subi %d, %c2 : i32
  tt.return %b, %e : i32, i32
}
tt.func public @difference_of_difference(%x: i32, %y: i32) -> (i32, i32) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %a = arith.subi %x, %y : i32
  %b = arith.subi %x, %a : i32
  %d = arith.subi %y, %c3 : i32
  %e = arith.subi %d, %c2 : i32
  tt.return %b, %e : i32, i32
}
tt.func public @and_ones(%x: i32, %y: i32) -> i32 {
  %m1 = arith.constant -1 : i32
  %a = arith.andi %x, %m1 : i32
  tt.return %a : i32
}
tt.func public @or_ones(%x: i32, %y: i32) -> i32 {
  %m1 = arith.constant -1 : i32
  %a = arith.ori %x, %m1 : i32
  tt.return %a : i32
}
tt.func public @absorb(%x: i32, %y: i32) -> (i32, i32) {
  %a = arith.ori %x, %y : i32
  %b = arith.andi %x, %a : i32
  %d = arith.andi %x, %y : i32
  %e = arith.ori %d, %y : i32
  tt.return %b, %e : i32, i32
}
tt.func public @xor_twice(%x: i32, %y: i32) -> i32 {
  %a = arith.xori %x, %y : i32
  %b = arith.xori %a, %y : i32
  tt.return %b : i32
}
tt.func public @shift_of_zero(%x: i32, %y: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %a = arith.shli %c0, %x : i32
  tt.return %a : i32
}
tt.func public @zero_left(%x: i32, %y: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %a = arith.divui %c0, %x : i32
  %b = arith.remsi %c0, %y : i32
  tt.return %a, %b : i32, i32
}
// Of x / x nothing is known: 0 / 0 is 0.
tt.func public @remainder_zero(%x: i32, %y: i32) -> (i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %a = arith.remsi %x, %x : i32
  %b = arith.remui %y, %c1 : i32
  %c = arith.divsi %x, %x : i32
  tt.return %a, %b, %c : i32, i32, i32
}
// What is least for signed numbers is not for unsigned ones.
tt.func public @extreme_right(%x: i32, %y: i32) -> (i32, i32, i32) {
  %low = arith.constant -2147483648 : i32
  %a = arith.maxsi %x, %low : i32
  %b = arith.minsi %y, %low : i32
  %c = arith.maxui %y, %low : i32
  tt.return %a, %b, %c : i32, i32, i32
}
tt.func public @fold_extended_sum(%x: i32, %y: i32) -> (i32, i1, i32, i1) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %m1 = arith.constant -1 : i32
  %a:2 = arith.addui_extended %m1, %c2 : i32, i1
  %b:2 = arith.addui_extended %x, %c0 : i32, i1
  tt.return %a#0, %a#1, %b#0, %b#1 : i32, i1, i32, i1
}
tt.func public @fold_extended_product(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %m1 = arith.constant -1 : i32
  %a:2 = arith.mulsi_extended %m1, %c2 : i32
  %b:2 = arith.mului_extended %x, %c0 : i32
  tt.return %a#0, %a#1, %b#0, %b#1 : i32, i32, i32, i32
}
// OUTPUT
// module {
//   tt.func public @fold_integers(%x: i32, %y: i32) -> (i32, i32, i32) {
//     %c6_i32 = arith.constant 6 : i32
//     %c8_i32 = arith.constant 8 : i32
//     %c0_i32 = arith.constant 0 : i32
//     tt.return %c6_i32, %c8_i32, %c0_i32 : i32, i32, i32
//   }
//   tt.func public @constant_right(%x: i32, %y: i32) -> (i32, i32) {
//     %c3 = arith.constant 3 : i32
//     %a = arith.addi %x, %c3 : i32
//     %b = arith.subi %c3, %x : i32
//     tt.return %a, %b : i32, i32
//   }
//   tt.func public @zero_right(%x: i32, %y: i32) -> (i32, i32) {
//     tt.return %x, %y : i32, i32
//   }
//   tt.func public @one_right(%x: i32, %y: i32) -> (i32, i32) {
//     tt.return %x, %y : i32, i32
//   }
//   tt.func public @annihilate(%x: i32, %y: i32) -> (i32, i32) {
//     %c0 = arith.constant 0 : i32
//     tt.return %c0, %c0 : i32, i32
//   }
//   tt.func public @cancel(%x: i32, %y: i32) -> (i32, i32, i32) {
//     %c0_i32 = arith.constant 0 : i32
//     %d = arith.subi %x, %y : i32
//     tt.return %c0_i32, %c0_i32, %d : i32, i32, i32
//   }
//   tt.func public @idempotent(%x: i32, %y: i32) -> (i32, i32) {
//     tt.return %x, %y : i32, i32
//   }
//   tt.func public @reassociate_constants(%x: i32, %y: i32) -> (i32, i32) {
//     %c2 = arith.constant 2 : i32
//     %c5_i32 = arith.constant 5 : i32
//     %b = arith.addi %x, %c5_i32 : i32
//     %e = arith.andi %y, %c2 : i32
//     tt.return %b, %e : i32, i32
//   }
//   tt.func public @add_of_difference(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
//     %c3 = arith.constant 3 : i32
//     %c5_i32 = arith.constant 5 : i32
//     %e = arith.subi %c5_i32, %x : i32
//     %f = arith.subi %x, %y : i32
//     %g = arith.subi %c3, %y : i32
//     tt.return %x, %e, %f, %g : i32, i32, i32, i32
//   }
//   tt.func public @quotient_rounded_up(%x: i32) -> i32 {
//     %c7 = arith.constant 7 : i32
//     %s = arith.ceildivsi %x, %c7 : i32
//     tt.return %s : i32
//   }
//   tt.func public @difference_of_sum(%x: i32, %y: i32) -> (i32, i32) {
//     %c1_i32 = arith.constant 1 : i32
//     %e = arith.addi %x, %c1_i32 : i32
//     tt.return %y, %e : i32, i32
//   }
//   tt.func public @difference_of_difference(%x: i32, %y: i32) -> (i32, i32) {
//     %c5_i32 = arith.constant 5 : i32
//     %e = arith.subi %y, %c5_i32 : i32
//     tt.return %y, %e : i32, i32
//   }
//   tt.func public @and_ones(%x: i32, %y: i32) -> i32 {
//     tt.return %x : i32
//   }
//   tt.func public @or_ones(%x: i32, %y: i32) -> i32 {
//     %m1 = arith.constant -1 : i32
//     tt.return %m1 : i32
//   }
//   tt.func public @absorb(%x: i32, %y: i32) -> (i32, i32) {
//     tt.return %x, %y : i32, i32
//   }
//   tt.func public @xor_twice(%x: i32, %y: i32) -> i32 {
//     tt.return %x : i32
//   }
//   tt.func public @shift_of_zero(%x: i32, %y: i32) -> i32 {
//     %c0 = arith.constant 0 : i32
//     tt.return %c0 : i32
//   }
//   tt.func public @zero_left(%x: i32, %y: i32) -> (i32, i32) {
//     %c0 = arith.constant 0 : i32
//     tt.return %c0, %c0 : i32, i32
//   }
//   tt.func public @remainder_zero(%x: i32, %y: i32) -> (i32, i32, i32) {
//     %c0_i32 = arith.constant 0 : i32
//     %c = arith.divsi %x, %x : i32
//     tt.return %c0_i32, %c0_i32, %c : i32, i32, i32
//   }
//   tt.func public @extreme_right(%x: i32, %y: i32) -> (i32, i32, i32) {
//     %low = arith.constant -2147483648 : i32
//     %c = arith.maxui %y, %low : i32
//     tt.return %x, %low, %c : i32, i32, i32
//   }
//   tt.func public @fold_extended_sum(%x: i32, %y: i32) -> (i32, i1, i32, i1) {
//     %c1_i32 = arith.constant 1 : i32
//     %true = arith.constant true
//     %false = arith.constant false
//     tt.return %c1_i32, %true, %x, %false : i32, i1, i32, i1
//   }
//   tt.func public @fold_extended_product(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
//     %c0 = arith.constant 0 : i32
//     %m1 = arith.constant -1 : i32
//     %c-2_i32 = arith.constant -2 : i32
//     tt.return %c-2_i32, %m1, %c0, %c0 : i32, i32, i32, i32
//   }
// }
