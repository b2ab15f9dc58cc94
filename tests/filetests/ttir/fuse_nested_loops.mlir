// RUN: fuse-nested-loops, canonicalize, cse
// The inner loop may not run at all: a version of the outer loop alone for that.
tt.func @may_be_empty(%n: i32, %k: i32, %out: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %to = tt.addptr %out, %i : !tt.ptr<f32>, i32
    %sum = scf.for %j = %c0 to %k step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
      %y = arith.addf %acc, %one : f32
      scf.yield %y : f32
    }
    tt.store %to, %sum : !tt.ptr<f32>
  } {tt.flatten}
  tt.return
}
// Stays: nothing asks for it.
tt.func @not_asked(%n: i32, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %c4 step %c1 : i32 {
      %to = tt.addptr %out, %j : !tt.ptr<i32>, i32
      tt.store %to, %i : !tt.ptr<i32>
    }
  }
  tt.return
}
// Stays: two loops in the outer one.
tt.func @two_loops(%n: i32, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %c4 step %c1 : i32 {
      %to = tt.addptr %out, %j : !tt.ptr<i32>, i32
      tt.store %to, %i : !tt.ptr<i32>
    }
    scf.for %j = %c0 to %c4 step %c1 : i32 {
      %to = tt.addptr %out, %i : !tt.ptr<i32>, i32
      tt.store %to, %j : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}
// Stays: the inner bound is loaded in each iteration, and the loop may be empty.
tt.func @bound_from_memory(%n: i32, %out: !tt.ptr<i32>, %sizes: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %at = tt.addptr %sizes, %i : !tt.ptr<i32>, i32
    %k = tt.load %at : !tt.ptr<i32>
    scf.for %j = %c0 to %k step %c1 : i32 {
      %to = tt.addptr %out, %j : !tt.ptr<i32>, i32
      tt.store %to, %i : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}
// OUTPUT
// module {
//   tt.func @may_be_empty(%n: i32, %k: i32, %out: !tt.ptr<f32>) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %zero = arith.constant 0.000000e+00 : f32
//     %one = arith.constant 1.000000e+00 : f32
//     %c-1_i32 = arith.constant -1 : i32
//     %0 = arith.cmpi sle, %k, %c0 : i32
//     scf.if %0 {
//       scf.for %i = %c0 to %n step %c1  : i32 {
//         %to = tt.addptr %out, %i : !tt.ptr<f32>, i32
//         tt.store %to, %zero : !tt.ptr<f32>
//       }
//     } else {
//       %1 = arith.maxsi %k, %c1 : i32
//       %2 = arith.muli %n, %1 : i32
//       %3:3 = scf.for %arg3 = %c0 to %2 step %c1 iter_args(%arg4 = %c0, %arg5 = %c-1_i32, %arg6 = %zero) -> (i32, i32, f32)  : i32 {
//         %4 = arith.cmpi eq, %arg4, %c0 : i32
//         %5 = scf.if %4 -> (i32) {
//           %11 = arith.addi %arg5, %c1 : i32
//           scf.yield %11 : i32
//         } else {
//           scf.yield %arg5 : i32
//         }
//         %y = arith.addf %arg6, %one : f32
//         %6 = arith.subi %1, %c1 : i32
//         %7 = arith.cmpi eq, %arg4, %6 : i32
//         %8 = arith.select %7, %zero, %y : f32
//         scf.if %7 {
//           %to = tt.addptr %out, %5 : !tt.ptr<f32>, i32
//           tt.store %to, %y : !tt.ptr<f32>
//         }
//         %9 = arith.addi %arg4, %c1 : i32
//         %10 = arith.select %7, %c0, %9 : i32
//         scf.yield %10, %5, %8 : i32, i32, f32
//       }
//     }
//     tt.return
//   }
//   tt.func @not_asked(%n: i32, %out: !tt.ptr<i32>) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c4 = arith.constant 4 : i32
//     scf.for %i = %c0 to %n step %c1  : i32 {
//       scf.for %j = %c0 to %c4 step %c1  : i32 {
//         %to = tt.addptr %out, %j : !tt.ptr<i32>, i32
//         tt.store %to, %i : !tt.ptr<i32>
//       }
//     }
//     tt.return
//   }
//   tt.func @two_loops(%n: i32, %out: !tt.ptr<i32>) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c4 = arith.constant 4 : i32
//     scf.for %i = %c0 to %n step %c1  : i32 {
//       scf.for %j = %c0 to %c4 step %c1  : i32 {
//         %to = tt.addptr %out, %j : !tt.ptr<i32>, i32
//         tt.store %to, %i : !tt.ptr<i32>
//       }
//       scf.for %j = %c0 to %c4 step %c1  : i32 {
//         %to = tt.addptr %out, %i : !tt.ptr<i32>, i32
//         tt.store %to, %j : !tt.ptr<i32>
//       }
//     } {tt.flatten}
//     tt.return
//   }
//   tt.func @bound_from_memory(%n: i32, %out: !tt.ptr<i32>, %sizes: !tt.ptr<i32>) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     scf.for %i = %c0 to %n step %c1  : i32 {
//       %at = tt.addptr %sizes, %i : !tt.ptr<i32>, i32
//       %k = tt.load %at : !tt.ptr<i32>
//       scf.for %j = %c0 to %k step %c1  : i32 {
//         %to = tt.addptr %out, %j : !tt.ptr<i32>, i32
//         tt.store %to, %i : !tt.ptr<i32>
//       }
//     } {tt.flatten}
//     tt.return
//   }
// }
