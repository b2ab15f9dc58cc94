// RUN: cse
// Two equal additions are merged, and two loads with no store between them; the load after the store is kept.
tt.func public @twice(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %x: i32) -> i32 {
  %a = tt.load %p : !tt.ptr<i32>
  %b = tt.load %p : !tt.ptr<i32>
  %c = arith.addi %a, %x : i32
  %d = arith.addi %x, %b : i32
  %e = arith.muli %c, %d : i32
  tt.store %q, %e : !tt.ptr<i32>
  %f = tt.load %p : !tt.ptr<i32>
  tt.return %f : i32
}
// OUTPUT
// module {
//   tt.func public @twice(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %x: i32) -> i32 {
//     %a = tt.load %p : !tt.ptr<i32>
//     %c = arith.addi %a, %x : i32
//     %e = arith.muli %c, %c : i32
//     tt.store %q, %e : !tt.ptr<i32>
//     %f = tt.load %p : !tt.ptr<i32>
//     tt.return %f : i32
//   }
// }
