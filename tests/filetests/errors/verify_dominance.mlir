// RUN: print
tt.func @f(%c: i1, %x: i32) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = arith.addi %x, %x : i32
  cf.br ^bb2
^bb2:
  %1 = arith.muli %0, %x : i32 // error: V3: operand 0 is not defined before its use on every way
  tt.return
}
