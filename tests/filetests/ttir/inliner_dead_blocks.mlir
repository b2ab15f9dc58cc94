// RUN: inliner, symbol-dce
// Behind its only return a callee has a block that nothing reaches: it is one of one block, and goes into a region.
tt.func private @zeros() -> tensor<8xf32> attributes {noinline = false} {
  %c = arith.constant dense<0.0> : tensor<8xf32>
  tt.return %c : tensor<8xf32>
^bb1:
  %p = ub.poison : tensor<8xf32>
  tt.return %p : tensor<8xf32>
}
tt.func public @k(%o: tensor<8x!tt.ptr<f32>>, %p: i1) {
  scf.if %p {
    %z = tt.call @zeros() : () -> tensor<8xf32>
    tt.store %o, %z : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}
// OUTPUT
// module {
//   tt.func public @k(%o: tensor<8x!tt.ptr<f32>>, %p: i1) {
//     scf.if %p {
//       %c = arith.constant dense<0.000000e+00> : tensor<8xf32>
//       tt.store %o, %c : tensor<8x!tt.ptr<f32>>
//     }
//     tt.return
//   }
// }
