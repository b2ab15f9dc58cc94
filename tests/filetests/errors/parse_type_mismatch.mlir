// RUN: print
tt.func @f(%x: i32, %y: i64) {
  %0 = arith.addi %x, %y : i32 // error: '%y' has the type i64, but is used as i32
  tt.return
}
