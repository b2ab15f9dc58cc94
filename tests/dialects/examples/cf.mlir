// Every operation of the cf dialect.
tt.func @clamp(%a: i32, %limit: i32) -> i32 {
  %positive = arith.cmpi sge, %limit, %limit : i32
  cf.assert %positive, "the limit must not be negative"
  %over = arith.cmpi sgt, %a, %limit : i32
  cf.cond_br %over, ^done(%limit : i32), ^else
^else:
  cf.br ^done(%a : i32)
^done(%result: i32):
  tt.return %result : i32
}

tt.func @rare(%n: i32) {
  cf.switch %n : i32, [
    default: ^bb1(%n : i32),
    1: ^bb2
  ]
^bb1(%k: i32):  // pred: ^bb0
  tt.return
^bb2:  // pred: ^bb0
  tt.return
}
