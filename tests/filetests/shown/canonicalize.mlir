// RUN: canonicalize
// A multiplication by a power of two, a constant sum, a branch that is never taken, and dead operations.
tt.func public @offset(%pid: i32, %p: !tt.ptr<i32>) {
  %c0_i32 = arith.constant 0 : i32
  %c2_i32 = arith.constant 2 : i32
  %c32_i32 = arith.constant 32 : i32
  %unused = arith.muli %pid, %c2_i32 : i32
  %block = arith.addi %c32_i32, %c32_i32 : i32
  %start = arith.muli %block, %pid : i32
  %same = arith.addi %start, %c0_i32 : i32
  %never = arith.cmpi slt, %block, %c0_i32 : i32
  scf.if %never {
    tt.store %p, %pid : !tt.ptr<i32>
  }
  tt.store %p, %same : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @offset(%pid: i32, %p: !tt.ptr<i32>) {
//     %c64_i32 = arith.constant 64 : i32
//     %start = arith.muli %pid, %c64_i32 : i32
//     tt.store %p, %start : !tt.ptr<i32>
//     tt.return
//   }
// }
