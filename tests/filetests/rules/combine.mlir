// RUN: combine
// Each function is named after the rule it is for.
// A product that is used twice stays.
tt.func public @add_to_dot(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>, %u: tensor<32x64xf8E5M2>, %s: tensor<32x2xi8>, %v: tensor<64x32xf8E5M2>, %w: tensor<32x32xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<32x32xf32>) {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %b, %z : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %e = arith.addf %c, %d : tensor<16x16xf32>
  %f = tt.dot %a, %b, %z : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %g = arith.addf %f, %c : tensor<16x16xf32>
  %h = arith.mulf %f, %g : tensor<16x16xf32>
  %y = arith.constant dense<0.0> : tensor<32x32xf32>
  %i = tt.dot_scaled %u scale %s, %v, %y lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<32x64xf8E5M2>, tensor<32x2xi8> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  %j = arith.addf %i, %w : tensor<32x32xf32>
  tt.return %e, %h, %j : tensor<16x16xf32>, tensor<16x16xf32>, tensor<32x32xf32>
}
// A sum of offsets of 32 bits may overflow.
tt.func public @add_offsets(%p: !tt.ptr<f32>, %i: i64, %j: i64, %k: i32) -> (!tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>) {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %a = tt.addptr %p, %i : !tt.ptr<f32>, i64
  %b = tt.addptr %a, %j : !tt.ptr<f32>, i64
  %d = tt.addptr %p, %c3 : !tt.ptr<f32>, i32
  %e = tt.addptr %d, %c4 : !tt.ptr<f32>, i32
  %f = tt.addptr %p, %k : !tt.ptr<f32>, i32
  %g = tt.addptr %f, %k : !tt.ptr<f32>, i32
  tt.return %b, %e, %g : !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>
}
// What stands in for masked elements must be known before the load.
tt.func public @select_of_load(%p: tensor<8x!tt.ptr<f32>>, %m: i1, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = tt.splat %m : i1 -> tensor<8xi1>
  %v = tt.load %p, %s : tensor<8x!tt.ptr<f32>>
  %a = arith.select %m, %v, %y : tensor<8xf32>
  %w = tt.load %p, %s : tensor<8x!tt.ptr<f32>>
  %z = arith.mulf %y, %y : tensor<8xf32>
  %b = arith.select %m, %w, %z : tensor<8xf32>
  tt.return %a, %b : tensor<8xf32>, tensor<8xf32>
}
tt.func public @sum_of_products(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %x = tt.expand_dims %a {axis = 2 : i32} : tensor<16x16xf32> -> tensor<16x16x1xf32>
  %y = tt.expand_dims %b {axis = 0 : i32} : tensor<16x16xf32> -> tensor<1x16x16xf32>
  %u = tt.broadcast %x : tensor<16x16x1xf32> -> tensor<16x16x16xf32>
  %v = tt.broadcast %y : tensor<1x16x16xf32> -> tensor<16x16x16xf32>
  %m = arith.mulf %u, %v : tensor<16x16x16xf32>
  %s = "tt.reduce"(%m) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<16x16x16xf32>) -> tensor<16x16xf32>
  tt.return %s : tensor<16x16xf32>
}
// What is used in order keeps its order: itself, beside indices or a mask, or by a function that tells a from b.
tt.func public @reshape_before_reduction(%x: tensor<4x8xi32>, %i: tensor<32xi32>, %m: tensor<32xi1>) -> (i32, tensor<32xi32>, i32, tensor<8xi32>, i32) {
  %a = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
  %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %t = arith.addi %l, %r : i32
    tt.reduce.return %t : i32
  }) : (tensor<32xi32>) -> i32
  %b = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
  %c = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
  %t:2 = "tt.reduce"(%c, %i) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %li: i32, %r: i32, %ri: i32):
    %first = arith.cmpi sgt, %l, %r : i32
    %v = arith.select %first, %l, %r : i32
    %at = arith.select %first, %li, %ri : i32
    tt.reduce.return %v, %at : i32, i32
  }) : (tensor<32xi32>, tensor<32xi32>) -> (i32, i32)
  %d = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
  %h = tt.histogram %d, %m : tensor<32xi32> -> tensor<8xi32>
  %e = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
  %u = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    tt.reduce.return %r : i32
  }) : (tensor<32xi32>) -> i32
  tt.return %s, %b, %t#1, %h, %u : i32, tensor<32xi32>, i32, tensor<8xi32>, i32
}
// Another shape of as many dimensions is a reshape.
tt.func public @load_of_lower_rank(%p: !tt.ptr<f32>, %n: i32, %s: i64, %i: i32) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : !tt.ptr<f32>, !tt.tensordesc<1x8xf32>
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<1x8xf32> -> tensor<1x8xf32>
  %a = tt.reshape %v : tensor<1x8xf32> -> tensor<8xf32>
  %w = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<1x8xf32> -> tensor<1x8xf32>
  %b = tt.reshape %w : tensor<1x8xf32> -> tensor<2x4xf32>
  tt.return %a, %b : tensor<8xf32>, tensor<2x4xf32>
}
// OUTPUT
// module {
//   tt.func public @add_to_dot(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>, %u: tensor<32x64xf8E5M2>, %s: tensor<32x2xi8>, %v: tensor<64x32xf8E5M2>, %w: tensor<32x32xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<32x32xf32>) {
//     %z = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %e = tt.dot %a, %b, %c : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//     %f = tt.dot %a, %b, %z : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//     %g = arith.addf %f, %c : tensor<16x16xf32>
//     %h = arith.mulf %f, %g : tensor<16x16xf32>
//     %j = tt.dot_scaled %u scale %s, %v, %w lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<32x64xf8E5M2>, tensor<32x2xi8> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
//     tt.return %e, %h, %j : tensor<16x16xf32>, tensor<16x16xf32>, tensor<32x32xf32>
//   }
//   tt.func public @add_offsets(%p: !tt.ptr<f32>, %i: i64, %j: i64, %k: i32) -> (!tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>) {
//     %c7_i32 = arith.constant 7 : i32
//     %0 = arith.addi %i, %j : i64
//     %b = tt.addptr %p, %0 : !tt.ptr<f32>, i64
//     %e = tt.addptr %p, %c7_i32 : !tt.ptr<f32>, i32
//     %f = tt.addptr %p, %k : !tt.ptr<f32>, i32
//     %g = tt.addptr %f, %k : !tt.ptr<f32>, i32
//     tt.return %b, %e, %g : !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>
//   }
//   tt.func public @select_of_load(%p: tensor<8x!tt.ptr<f32>>, %m: i1, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
//     %s = tt.splat %m : i1 -> tensor<8xi1>
//     %a = tt.load %p, %s, %y : tensor<8x!tt.ptr<f32>>
//     %w = tt.load %p, %s : tensor<8x!tt.ptr<f32>>
//     %z = arith.mulf %y, %y : tensor<8xf32>
//     %b = arith.select %m, %w, %z : tensor<8xf32>
//     tt.return %a, %b : tensor<8xf32>, tensor<8xf32>
//   }
//   tt.func public @sum_of_products(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
//     %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %s = tt.dot %a, %b, %cst : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//     tt.return %s : tensor<16x16xf32>
//   }
//   tt.func public @reshape_before_reduction(%x: tensor<4x8xi32>, %i: tensor<32xi32>, %m: tensor<32xi1>) -> (i32, tensor<32xi32>, i32, tensor<8xi32>, i32) {
//     %a = tt.reshape %x allow_reorder : tensor<4x8xi32> -> tensor<32xi32>
//     %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
//     ^bb0(%l: i32, %r: i32):
//       %t_0 = arith.addi %l, %r : i32
//       tt.reduce.return %t_0 : i32
//     }) : (tensor<32xi32>) -> i32
//     %b = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
//     %c = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
//     %t:2 = "tt.reduce"(%c, %i) <{axis = 0 : i32}> ({
//     ^bb0(%l: i32, %li: i32, %r: i32, %ri: i32):
//       %first = arith.cmpi sgt, %l, %r : i32
//       %v = arith.select %first, %l, %r : i32
//       %at = arith.select %first, %li, %ri : i32
//       tt.reduce.return %v, %at : i32, i32
//     }) : (tensor<32xi32>, tensor<32xi32>) -> (i32, i32)
//     %d = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
//     %h = tt.histogram %d, %m : tensor<32xi32> -> tensor<8xi32>
//     %e = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
//     %u = "tt.reduce"(%e) <{axis = 0 : i32}> ({
//     ^bb0(%l: i32, %r: i32):
//       tt.reduce.return %r : i32
//     }) : (tensor<32xi32>) -> i32
//     tt.return %s, %b, %t#1, %h, %u : i32, tensor<32xi32>, i32, tensor<8xi32>, i32
//   }
//   tt.func public @load_of_lower_rank(%p: !tt.ptr<f32>, %n: i32, %s: i64, %i: i32) -> (tensor<8xf32>, tensor<2x4xf32>) {
//     %one = arith.constant 1 : i64
//     %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f32>, <1x8xf32>
//     %a = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<1x8xf32> -> tensor<8xf32>
//     %w = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<1x8xf32> -> tensor<1x8xf32>
//     %b = tt.reshape %w : tensor<1x8xf32> -> tensor<2x4xf32>
//     tt.return %a, %b : tensor<8xf32>, tensor<2x4xf32>
//   }
// }
