// RUN: combine
tt.func public @dots(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>, %p: tensor<16x16x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %b, %zero : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %e = arith.addf %c, %d : tensor<16x16xf32>
  tt.store %p, %e : tensor<16x16x!tt.ptr<f32>>
  // Used twice: kept.
  %f = tt.dot %a, %b, %zero : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %g = arith.addf %f, %c : tensor<16x16xf32>
  tt.store %p, %f : tensor<16x16x!tt.ptr<f32>>
  tt.store %p, %g : tensor<16x16x!tt.ptr<f32>>
  // A sum of products.
  %x = tt.expand_dims %a {axis = 2 : i32} : tensor<16x16xf32> -> tensor<16x16x1xf32>
  %y = tt.expand_dims %b {axis = 0 : i32} : tensor<16x16xf32> -> tensor<1x16x16xf32>
  %xb = tt.broadcast %x : tensor<16x16x1xf32> -> tensor<16x16x16xf32>
  %yb = tt.broadcast %y : tensor<1x16x16xf32> -> tensor<16x16x16xf32>
  %m = arith.mulf %xb, %yb : tensor<16x16x16xf32>
  %s = "tt.reduce"(%m) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<16x16x16xf32>) -> tensor<16x16xf32>
  tt.store %p, %s : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
tt.func public @pointers(%p: tensor<8x!tt.ptr<f32>>, %q: !tt.ptr<f32>, %i: i64, %j: i64, %m: tensor<8xi1>, %y: tensor<8xf32>) {
  %c3 = arith.constant dense<3> : tensor<8xi32>
  %big = arith.constant dense<2147483647> : tensor<8xi32>
  %a = tt.addptr %p, %c3 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %b = tt.addptr %a, %c3 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %c = tt.addptr %a, %big : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %d = tt.addptr %q, %i : !tt.ptr<f32>, i64
  %e = tt.addptr %d, %j : !tt.ptr<f32>, i64
  %v = tt.load %b, %m : tensor<8x!tt.ptr<f32>>
  %w = arith.select %m, %v, %y : tensor<8xi1>, tensor<8xf32>
  tt.store %c, %w : tensor<8x!tt.ptr<f32>>
  // The values of masked lanes are defined after the load: kept.
  %x = tt.load %b, %m : tensor<8x!tt.ptr<f32>>
  %z = arith.mulf %y, %y : tensor<8xf32>
  %u = arith.select %m, %x, %z : tensor<8xi1>, tensor<8xf32>
  tt.store %c, %u : tensor<8x!tt.ptr<f32>>
  %f = tt.load %e : !tt.ptr<f32>
  tt.store %q, %f : !tt.ptr<f32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @dots(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>, %p: tensor<16x16x!tt.ptr<f32>>) {
//     %zero = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %e = tt.dot %a, %b, %c : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//     tt.store %p, %e : tensor<16x16x!tt.ptr<f32>>
//     %f = tt.dot %a, %b, %zero : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//     %g = arith.addf %f, %c : tensor<16x16xf32>
//     tt.store %p, %f : tensor<16x16x!tt.ptr<f32>>
//     tt.store %p, %g : tensor<16x16x!tt.ptr<f32>>
//     %s = tt.dot %a, %b, %zero : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//     tt.store %p, %s : tensor<16x16x!tt.ptr<f32>>
//     tt.return
//   }
//   tt.func public @pointers(%p: tensor<8x!tt.ptr<f32>>, %q: !tt.ptr<f32>, %i: i64, %j: i64, %m: tensor<8xi1>, %y: tensor<8xf32>) {
//     %c3 = arith.constant dense<3> : tensor<8xi32>
//     %big = arith.constant dense<2147483647> : tensor<8xi32>
//     %cst = arith.constant dense<6> : tensor<8xi32>
//     %a = tt.addptr %p, %c3 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
//     %b = tt.addptr %p, %cst : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
//     %c = tt.addptr %a, %big : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
//     %0 = arith.addi %i, %j : i64
//     %e = tt.addptr %q, %0 : !tt.ptr<f32>, i64
//     %w = tt.load %b, %m, %y : tensor<8x!tt.ptr<f32>>
//     tt.store %c, %w : tensor<8x!tt.ptr<f32>>
//     %x = tt.load %b, %m : tensor<8x!tt.ptr<f32>>
//     %z = arith.mulf %y, %y : tensor<8xf32>
//     %u = arith.select %m, %x, %z : tensor<8xi1>, tensor<8xf32>
//     tt.store %c, %u : tensor<8x!tt.ptr<f32>>
//     %f = tt.load %e : !tt.ptr<f32>
//     tt.store %q, %f : !tt.ptr<f32>
//     tt.return
//   }
// }
