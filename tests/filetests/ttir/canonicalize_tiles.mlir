// RUN: canonicalize
tt.func public @shapes(%o: !tt.ptr<i32>, %x: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %true = arith.constant true
  %false = arith.constant false
  %zeros = tt.splat %c0 : i32 -> tensor<16xi32>
  %xs = tt.splat %x : i32 -> tensor<16xi32>
  %row = tt.expand_dims %xs {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %tile = tt.broadcast %row : tensor<1x16xi32> -> tensor<4x16xi32>
  %turned = tt.trans %tile {order = array<i32: 1, 0>} : tensor<4x16xi32> -> tensor<16x4xi32>
  %flat = tt.reshape %turned : tensor<16x4xi32> -> tensor<64xi32>
  %po = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %po2 = tt.addptr %po, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %po2, %flat : tensor<64x!tt.ptr<i32>>
  // Known masks, from constants or from a range.
  %r16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %pp = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %pr = tt.addptr %pp, %r16 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %same = tt.addptr %pr, %zeros : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %size = arith.constant dense<16> : tensor<16xi32>
  %inside = arith.cmpi slt, %r16, %size : tensor<16xi32>
  %a = tt.load %same, %inside, %xs : tensor<16x!tt.ptr<i32>>
  %never = tt.splat %false : i1 -> tensor<16xi1>
  %b = tt.load %same, %never, %xs : tensor<16x!tt.ptr<i32>>
  %s = arith.addi %a, %b : tensor<16xi32>
  tt.store %pr, %s, %inside : tensor<16x!tt.ptr<i32>>
  tt.store %pr, %a, %never : tensor<16x!tt.ptr<i32>>
  tt.assert %true, "never fails" : i1
  tt.return
}
// OUTPUT
// module {
//   tt.func public @shapes(%o: !tt.ptr<i32>, %x: i32, %p: !tt.ptr<i32>) {
//     %xs = tt.splat %x : i32 -> tensor<16xi32>
//     %flat = tt.splat %x : i32 -> tensor<64xi32>
//     %po = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
//     %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %po2 = tt.addptr %po, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
//     tt.store %po2, %flat : tensor<64x!tt.ptr<i32>>
//     %r16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %pp = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
//     %pr = tt.addptr %pp, %r16 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
//     %a = tt.load %pr : tensor<16x!tt.ptr<i32>>
//     %s = arith.addi %a, %xs : tensor<16xi32>
//     tt.store %pr, %s : tensor<16x!tt.ptr<i32>>
//     tt.return
//   }
// }
