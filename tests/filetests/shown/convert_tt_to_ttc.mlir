// RUN: convert-tt-to-ttc{target=x86-64-v3}
// A tile of 16 sums in vectors of 8, the vector width, with one loop for all operations on its elements.
tt.func public @double(%p: !tt.ptr<f32>) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %a = tt.addptr %s, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %x = tt.load %a : tensor<16x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<16xf32>
  tt.store %a, %y : tensor<16x!tt.ptr<f32>>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @double(%p: !tt.ptr<f32>) {
//     %c0_i32 = arith.constant 0 : i32
//     %c16_i32 = arith.constant 16 : i32
//     %c8_i32 = arith.constant 8 : i32
//     %c0_i64 = arith.constant 0 : i64
//     %c1_i64 = arith.constant 1 : i64
//     scf.for %arg1 = %c0_i32 to %c16_i32 step %c8_i32  : i32 {
//       %0 = arith.extsi %arg1 : i32 to i64
//       %1 = tt.addptr %p, %0 : !tt.ptr<f32>, i64
//       %2 = ttc.load %1 : !tt.ptr<f32> -> vector<8xf32>
//       %3 = arith.addf %2, %2 : vector<8xf32>
//       ttc.store %1, %3 : !tt.ptr<f32>, vector<8xf32>
//     }
//     tt.return
//   }
// }
