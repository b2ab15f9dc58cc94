// RUN: combine-tensor-select-and-if
// The existing branch on %last yields one of the two tiles.
tt.func public @last(%p: tensor<64x!tt.ptr<f32>>, %last: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %z = arith.select %last, %x, %y : tensor<64xf32>
  scf.if %last {
    tt.store %p, %z : tensor<64x!tt.ptr<f32>>
  }
  tt.return %z : tensor<64xf32>
}
// OUTPUT
// module {
//   tt.func public @last(%p: tensor<64x!tt.ptr<f32>>, %last: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
//     %z = scf.if %last -> (tensor<64xf32>) {
//       tt.store %p, %x : tensor<64x!tt.ptr<f32>>
//       scf.yield %x : tensor<64xf32>
//     } else {
//       scf.yield %y : tensor<64xf32>
//     }
//     tt.return %z : tensor<64xf32>
//   }
// }
