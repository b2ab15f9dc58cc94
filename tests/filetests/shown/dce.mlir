// RUN: dce
// The multiplication and the operations that only it uses are dead.
tt.func public @unused(%p: !tt.ptr<i32>, %x: i32) {
  %a = tt.load %p : !tt.ptr<i32>
  %b = arith.addi %a, %x : i32
  %c = arith.muli %b, %b : i32
  tt.store %p, %x : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @unused(%p: !tt.ptr<i32>, %x: i32) {
//     tt.store %p, %x : !tt.ptr<i32>
//     tt.return
//   }
// }
