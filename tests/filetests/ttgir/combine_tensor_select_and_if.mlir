// RUN: combine-tensor-select-and-if
// Rule inside: each branch uses its own operand of the select. No use is left: the new result is dead.
tt.func public @inside(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) {
  %z = arith.select %c, %x, %y : tensor<64xf32>
  scf.if %c {
    tt.store %p, %z : tensor<64x!tt.ptr<f32>>
  } else {
    %n = arith.negf %z : tensor<64xf32>
    tt.store %p, %n : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}
// Rule hand on: the value becomes one more result of an scf.if that has results already.
tt.func public @more_results(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %x: tensor<64xf32>, %y: tensor<64xf32>, %n: i32) -> (tensor<64xf32>, i32) {
  %c1 = arith.constant 1 : i32
  %z = arith.select %c, %x, %y : tensor<64xf32>
  %m = scf.if %c -> (i32) {
    %k = arith.addi %n, %c1 : i32
    scf.yield %k : i32
  } else {
    scf.yield %n : i32
  }
  tt.return %z, %m : tensor<64xf32>, i32
}
// Stays: the select is used before the scf.if.
tt.func public @used_before(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %z = arith.select %c, %x, %y : tensor<64xf32>
  tt.store %p, %z : tensor<64x!tt.ptr<f32>>
  scf.if %c {
    tt.store %p, %x : tensor<64x!tt.ptr<f32>>
  }
  tt.return %z : tensor<64xf32>
}
// Stays: another condition, though it has the same value whenever both are true.
tt.func public @other_condition(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %d: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %z = arith.select %c, %x, %y : tensor<64xf32>
  scf.if %d {
    tt.store %p, %z : tensor<64x!tt.ptr<f32>>
  }
  tt.return %z : tensor<64xf32>
}
// Stays: a select of scalars costs no more than a result.
tt.func public @scalars(%p: !tt.ptr<f32>, %c: i1, %x: f32, %y: f32) -> f32 {
  %z = arith.select %c, %x, %y : f32
  scf.if %c {
    tt.store %p, %x : !tt.ptr<f32>
  }
  tt.return %z : f32
}
// Stays: the condition of the select is a tensor.
tt.func public @elementwise(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %m: tensor<64xi1>, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %z = arith.select %m, %x, %y : tensor<64xi1>, tensor<64xf32>
  scf.if %c {
    tt.store %p, %x : tensor<64x!tt.ptr<f32>>
  }
  tt.return %z : tensor<64xf32>
}
// OUTPUT
// module {
//   tt.func public @inside(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) {
//     %z = scf.if %c -> (tensor<64xf32>) {
//       tt.store %p, %x : tensor<64x!tt.ptr<f32>>
//       scf.yield %x : tensor<64xf32>
//     } else {
//       %n = arith.negf %y : tensor<64xf32>
//       tt.store %p, %n : tensor<64x!tt.ptr<f32>>
//       scf.yield %y : tensor<64xf32>
//     }
//     tt.return
//   }
//   tt.func public @more_results(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %x: tensor<64xf32>, %y: tensor<64xf32>, %n: i32) -> (tensor<64xf32>, i32) {
//     %c1 = arith.constant 1 : i32
//     %m, %z = scf.if %c -> (i32, tensor<64xf32>) {
//       %k = arith.addi %n, %c1 : i32
//       scf.yield %k, %x : i32, tensor<64xf32>
//     } else {
//       scf.yield %n, %y : i32, tensor<64xf32>
//     }
//     tt.return %z, %m : tensor<64xf32>, i32
//   }
//   tt.func public @used_before(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
//     %z = arith.select %c, %x, %y : tensor<64xf32>
//     tt.store %p, %z : tensor<64x!tt.ptr<f32>>
//     scf.if %c {
//       tt.store %p, %x : tensor<64x!tt.ptr<f32>>
//     }
//     tt.return %z : tensor<64xf32>
//   }
//   tt.func public @other_condition(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %d: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
//     %z = arith.select %c, %x, %y : tensor<64xf32>
//     scf.if %d {
//       tt.store %p, %z : tensor<64x!tt.ptr<f32>>
//     }
//     tt.return %z : tensor<64xf32>
//   }
//   tt.func public @scalars(%p: !tt.ptr<f32>, %c: i1, %x: f32, %y: f32) -> f32 {
//     %z = arith.select %c, %x, %y : f32
//     scf.if %c {
//       tt.store %p, %x : !tt.ptr<f32>
//     }
//     tt.return %z : f32
//   }
//   tt.func public @elementwise(%p: tensor<64x!tt.ptr<f32>>, %c: i1, %m: tensor<64xi1>, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
//     %z = arith.select %m, %x, %y : tensor<64xi1>, tensor<64xf32>
//     scf.if %c {
//       tt.store %p, %x : tensor<64x!tt.ptr<f32>>
//     }
//     tt.return %z : tensor<64xf32>
//   }
// }
