// RUN: print
tt.func @f(%x: i32) {
  %0 = arith.adi %x, %x : i32 // error: 'arith.adi' is not a known operation
  tt.return
}
