// RUN: exchange-pairs
// `%y` has the other element of each pair along the second dimension, `%c` the coordinate along it. Without what is no
// longer used, `collapse-dims` merges the dimensions.
tt.func @f(%x: tensor<4x2x2xi32>) {
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.xori %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<4x2x2xi32>) -> tensor<4x2xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<4x2xi32> -> tensor<4x1x2xi32>
  %b = tt.broadcast %e : tensor<4x1x2xi32> -> tensor<4x2x2xi32>
  %y = arith.xori %x, %b : tensor<4x2x2xi32>
  %two = tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32>
  %k = tt.reshape %two : tensor<2xi32> -> tensor<1x2x1xi32>
  %c = tt.broadcast %k : tensor<1x2x1xi32> -> tensor<4x2x2xi32>
  %z = arith.muli %y, %c : tensor<4x2x2xi32>
  tt.print "z: " {hex = false, isSigned = array<i32: 1>} : %z : tensor<4x2x2xi32>
  tt.return
}
// OUTPUT
// module {
//   tt.func @f(%x: tensor<4x2x2xi32>) {
//     %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %cst = arith.constant dense<2> : tensor<16xi32>
//     %1 = arith.xori %0, %cst : tensor<16xi32>
//     %cst_0 = arith.constant dense<1> : tensor<16xi32>
//     %2 = arith.shrui %0, %cst_0 : tensor<16xi32>
//     %3 = arith.andi %2, %cst_0 : tensor<16xi32>
//     %4 = tt.reshape %x : tensor<4x2x2xi32> -> tensor<16xi32>
//     %5 = tt.gather %4[%1] {axis = 0 : i32} : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
//     %6 = tt.reshape %5 : tensor<16xi32> -> tensor<4x2x2xi32>
//     %7 = tt.reshape %3 : tensor<16xi32> -> tensor<4x2x2xi32>
//     %z = arith.muli %6, %7 : tensor<4x2x2xi32>
//     tt.print "z: " {hex = false, isSigned = array<i32: 1>} : %z : tensor<4x2x2xi32>
//     tt.return
//   }
// }
