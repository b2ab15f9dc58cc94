// RUN: collapse-dims
// One loop of 4, one of 2 and vectors of 8 in place of six loops of 2; the mask repeats the fourth dimension alone.
tt.func public @step(%x: tensor<64xi32>, %flag: tensor<2xi32>) -> tensor<64xi32> {
  %h = tt.reshape %x : tensor<64xi32> -> tensor<2x2x2x2x2x2xi32>
  %r = "tt.reduce"(%h) <{axis = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.xori %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2xi32>
  %e = tt.expand_dims %r {axis = 2 : i32} : tensor<2x2x2x2x2xi32> -> tensor<2x2x1x2x2x2xi32>
  %s = tt.broadcast %e : tensor<2x2x1x2x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
  %f = tt.reshape %flag : tensor<2xi32> -> tensor<1x1x2x1x1x1xi32>
  %m = tt.broadcast %f : tensor<1x1x2x1x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
  %y = arith.xori %h, %s : tensor<2x2x2x2x2x2xi32>
  %z = arith.addi %y, %m : tensor<2x2x2x2x2x2xi32>
  %o = tt.reshape %z : tensor<2x2x2x2x2x2xi32> -> tensor<64xi32>
  tt.return %o : tensor<64xi32>
}
// OUTPUT
// module {
//   tt.func public @step(%x: tensor<64xi32>, %flag: tensor<2xi32>) -> tensor<64xi32> {
//     %h = tt.reshape %x : tensor<64xi32> -> tensor<2x2x2x2x2x2xi32>
//     %0 = tt.reshape %x : tensor<64xi32> -> tensor<4x2x8xi32>
//     %r = "tt.reduce"(%0) <{axis = 1 : i32}> ({
//     ^bb0(%a: i32, %b: i32):
//       %c = arith.xori %a, %b : i32
//       tt.reduce.return %c : i32
//     }) : (tensor<4x2x8xi32>) -> tensor<4x8xi32>
//     %e = tt.expand_dims %r {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
//     %s = tt.broadcast %e : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
//     %f = tt.reshape %flag : tensor<2xi32> -> tensor<1x1x2x1x1x1xi32>
//     %1 = tt.reshape %flag : tensor<2xi32> -> tensor<1x2x1xi32>
//     %m = tt.broadcast %1 : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
//     %2 = tt.reshape %x : tensor<64xi32> -> tensor<4x2x8xi32>
//     %y = arith.xori %2, %s : tensor<4x2x8xi32>
//     %z = arith.addi %y, %m : tensor<4x2x8xi32>
//     %o = tt.reshape %z : tensor<4x2x8xi32> -> tensor<64xi32>
//     tt.return %o : tensor<64xi32>
//   }
// }
