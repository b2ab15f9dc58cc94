// RUN: cse, dce
tt.func public @f(%p: !tt.ptr<i32>, %x: i32) {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  %unused = arith.subi %a, %b : i32
  tt.store %p, %c : !tt.ptr<i32>
  tt.return
}
// CHECK: %a = arith.addi %x, %x : i32
// CHECK-NEXT: %c = arith.muli %a, %a : i32
// CHECK-NEXT: tt.store %p, %c
// CHECK-NEXT: tt.return
