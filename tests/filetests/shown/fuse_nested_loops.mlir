// RUN: fuse-nested-loops, canonicalize, cse
// For each %i, the first inner iteration runs the prologue, and the last one the store.
tt.func @tiles(%n: i32, %k: i32, %out: !tt.ptr<f32>, %in: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %runs = arith.cmpi sgt, %k, %c0 : i32
  llvm.intr.assume %runs : i1
  scf.for %i = %c0 to %n step %c1 : i32 {
    %row = arith.muli %i, %k : i32
    %to = tt.addptr %out, %i : !tt.ptr<f32>, i32
    %sum = scf.for %j = %c0 to %k step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
      %at = arith.addi %row, %j : i32
      %p = tt.addptr %in, %at : !tt.ptr<f32>, i32
      %x = tt.load %p : !tt.ptr<f32>
      %y = arith.addf %acc, %x : f32
      scf.yield %y : f32
    }
    tt.store %to, %sum : !tt.ptr<f32>
  } {tt.flatten}
  tt.return
}
// OUTPUT
// module {
//   tt.func @tiles(%n: i32, %k: i32, %out: !tt.ptr<f32>, %in: !tt.ptr<f32>) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %zero = arith.constant 0.000000e+00 : f32
//     %c-1_i32 = arith.constant -1 : i32
//     %runs = arith.cmpi sgt, %k, %c0 : i32
//     llvm.intr.assume %runs : i1
//     %0 = arith.maxsi %k, %c1 : i32
//     %1 = arith.muli %n, %0 : i32
//     %2:5 = scf.for %arg4 = %c0 to %1 step %c1 iter_args(%arg5 = %c0, %arg6 = %c-1_i32, %arg7 = %c0, %arg8 = %zero, %arg9 = %c0) -> (i32, i32, i32, f32, i32)  : i32 {
//       %3 = arith.cmpi eq, %arg5, %c0 : i32
//       %4 = arith.select %3, %c0, %arg7 : i32
//       %5:2 = scf.if %3 -> (i32, i32) {
//         %12 = arith.addi %arg6, %c1 : i32
//         %row = arith.muli %12, %k : i32
//         scf.yield %row, %12 : i32, i32
//       } else {
//         scf.yield %arg9, %arg6 : i32, i32
//       }
//       %at = arith.addi %5#0, %4 : i32
//       %p = tt.addptr %in, %at : !tt.ptr<f32>, i32
//       %x = tt.load %p : !tt.ptr<f32>
//       %y = arith.addf %arg8, %x : f32
//       %6 = arith.addi %4, %c1 : i32
//       %7 = arith.subi %0, %c1 : i32
//       %8 = arith.cmpi eq, %arg5, %7 : i32
//       %9 = arith.select %8, %zero, %y : f32
//       scf.if %8 {
//         %to = tt.addptr %out, %5#1 : !tt.ptr<f32>, i32
//         tt.store %to, %y : !tt.ptr<f32>
//       }
//       %10 = arith.addi %arg5, %c1 : i32
//       %11 = arith.select %8, %c0, %10 : i32
//       scf.yield %11, %5#1, %6, %9, %5#0 : i32, i32, i32, f32, i32
//     }
//     tt.return
//   }
// }
