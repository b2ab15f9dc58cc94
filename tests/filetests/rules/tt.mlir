// RUN: canonicalize
// Each function is named after the rule it is for.
tt.func public @shape_of_constant() -> (tensor<8x4xf32>, tensor<4xi32>) {
  %c = arith.constant dense<1.0> : tensor<4x1xf32>
  %a = tt.broadcast %c : tensor<4x1xf32> -> tensor<4x8xf32>
  %b = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %s = arith.constant 2 : i32
  %d = tt.splat %s : i32 -> tensor<4xi32>
  tt.return %b, %d : tensor<8x4xf32>, tensor<4xi32>
}
tt.func public @view_of_constant() -> (tensor<4x1xi32>, tensor<2x2xi32>, tensor<2x2xi32>) {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %a = tt.expand_dims %c {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %b = tt.reshape %c : tensor<4xi32> -> tensor<2x2xi32>
  %d = tt.reshape %c allow_reorder : tensor<4xi32> -> tensor<2x2xi32>
  tt.return %a, %b, %d : tensor<4x1xi32>, tensor<2x2xi32>, tensor<2x2xi32>
}
tt.func public @shape_of_splat(%x: f32) -> (tensor<4x8xf32>, tensor<2x2xf32>) {
  %s = tt.splat %x : f32 -> tensor<4x1xf32>
  %a = tt.broadcast %s : tensor<4x1xf32> -> tensor<4x8xf32>
  %b = tt.reshape %s : tensor<4x1xf32> -> tensor<2x2xf32>
  tt.return %a, %b : tensor<4x8xf32>, tensor<2x2xf32>
}
// A reshape that may reorder is not nothing.
tt.func public @shape_kept(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = tt.broadcast %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %b = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<4x8xf32>
  tt.return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}
tt.func public @shape_twice(%x: tensor<1x1xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>) {
  %s = tt.broadcast %x : tensor<1x1xf32> -> tensor<4x1xf32>
  %a = tt.broadcast %s : tensor<4x1xf32> -> tensor<4x8xf32>
  %r = tt.reshape %y allow_reorder : tensor<4x8xf32> -> tensor<32xf32>
  %b = tt.reshape %r : tensor<32xf32> -> tensor<8x4xf32>
  tt.return %a, %b : tensor<4x8xf32>, tensor<8x4xf32>
}
tt.func public @expand_of_broadcast(%x: tensor<1xf32>) -> tensor<1x4xf32> {
  %s = tt.broadcast %x : tensor<1xf32> -> tensor<4xf32>
  %a = tt.expand_dims %s {axis = 0 : i32} : tensor<4xf32> -> tensor<1x4xf32>
  tt.return %a : tensor<1x4xf32>
}
tt.func public @transpose_twice(%x: tensor<2x4x8xf32>) -> (tensor<8x4x2xf32>, tensor<2x4x8xf32>) {
  %a = tt.trans %x {order = array<i32: 1, 2, 0>} : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
  %b = tt.trans %a {order = array<i32: 1, 0, 2>} : tensor<4x8x2xf32> -> tensor<8x4x2xf32>
  %c = tt.trans %x {order = array<i32: 0, 1, 2>} : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  tt.return %b, %c : tensor<8x4x2xf32>, tensor<2x4x8xf32>
}
tt.func public @unsplat_uniform(%x: f32) -> f32 {
  %s = tt.splat %x : f32 -> tensor<1xf32>
  %a = tt.unsplat %s : tensor<1xf32>
  tt.return %a : f32
}
tt.func public @range_of_one() -> (tensor<4xi32>, tensor<8xi32>) {
  %r = tt.make_range {end = 6 : i32, start = 5 : i32} : tensor<1xi32>
  %a = tt.broadcast %r : tensor<1xi32> -> tensor<4xi32>
  %b = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  tt.return %a, %b : tensor<4xi32>, tensor<8xi32>
}
tt.func public @compare_range() -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c8 = arith.constant dense<8> : tensor<8xi32>
  %c7 = arith.constant dense<7> : tensor<8xi32>
  %a = arith.cmpi slt, %r, %c8 : tensor<8xi32>
  %b = arith.cmpi slt, %r, %c7 : tensor<8xi32>
  %c = arith.cmpi eq, %r, %c8 : tensor<8xi32>
  tt.return %a, %b, %c : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}
// 4 * y + 11 may wrap around.
tt.func public @compare_steps(%x: i32, %y: i64) -> (tensor<8x8xi1>, tensor<8xi1>) {
  %c24 = arith.constant 24 : i32
  %c4 = arith.constant 4 : i64
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %t = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %s = arith.muli %x, %c24 : i32
  %ss = tt.splat %s : i32 -> tensor<8xi32>
  %o = arith.addi %ss, %r : tensor<8xi32>
  %m = tt.expand_dims %o {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %n = tt.expand_dims %o {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %p = tt.broadcast %m : tensor<8x1xi32> -> tensor<8x8xi32>
  %q = tt.broadcast %n : tensor<1x8xi32> -> tensor<8x8xi32>
  %a = arith.cmpi sgt, %p, %q : tensor<8x8xi32>
  %u = arith.muli %y, %c4 : i64
  %uu = tt.splat %u : i64 -> tensor<8xi64>
  %r64 = arith.extsi %r : tensor<8xi32> to tensor<8xi64>
  %t64 = arith.extsi %t : tensor<8xi32> to tensor<8xi64>
  %v = arith.addi %uu, %r64 : tensor<8xi64>
  %w = arith.addi %uu, %t64 : tensor<8xi64>
  %b = arith.cmpi sgt, %v, %w : tensor<8xi64>
  tt.return %a, %b : tensor<8x8xi1>, tensor<8xi1>
}
tt.func public @compare_extended_with_splat(%i: i32, %k: i64) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %rows = arith.extsi %r : tensor<8xi32> to tensor<8xi64>
  %j = arith.extsi %i : i32 to i64
  %s = tt.splat %j : i64 -> tensor<8xi64>
  %t = tt.splat %k : i64 -> tensor<8xi64>
  %a = arith.cmpi slt, %rows, %s : tensor<8xi64>
  %b = arith.cmpi slt, %s, %rows : tensor<8xi64>
  %c = arith.cmpi slt, %rows, %t : tensor<8xi64>
  tt.return %a, %b, %c : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}
tt.func public @split_of_join(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %j = tt.join %x, %y : tensor<4xf32> -> tensor<4x2xf32>
  %a, %b = tt.split %j : tensor<4x2xf32> -> tensor<4xf32>
  tt.return %a, %b : tensor<4xf32>, tensor<4xf32>
}
// The halves the other way round are another tile.
tt.func public @join_of_split(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %l, %r = tt.split %x : tensor<4x2xf32> -> tensor<4xf32>
  %a = tt.join %l, %r : tensor<4xf32> -> tensor<4x2xf32>
  %b = tt.join %r, %l : tensor<4xf32> -> tensor<4x2xf32>
  tt.return %a, %b : tensor<4x2xf32>, tensor<4x2xf32>
}
// Zeros of both signs are two numbers.
tt.func public @join_or_split_constant() -> (tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>) {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<-0.0> : tensor<4xf32>
  %a = tt.join %c, %c : tensor<4xf32> -> tensor<4x2xf32>
  %l, %r = tt.split %a : tensor<4x2xf32> -> tensor<4xf32>
  %b = tt.join %z, %n : tensor<4xf32> -> tensor<4x2xf32>
  tt.return %a, %l, %r, %b : tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>
}
tt.func public @fold_high_product(%x: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %m1 = arith.constant -1 : i32
  %a = tt.mulhiui %m1, %c2 : i32
  %b = tt.mulhiui %x, %c1 : i32
  tt.return %a, %b : i32, i32
}
tt.func public @float_to_own_type_or_zero(%x: tensor<4xf8E4M3FN>) -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E4M3FN>, tensor<4xf32>) {
  %z = arith.constant dense<-0.0> : tensor<4xf32>
  %a = tt.fp_to_fp %z, rounding = rtne : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %b = tt.fp_to_fp %z, rounding = rtne : tensor<4xf32> -> tensor<4xf8E4M3FNUZ>
  %c = tt.fp_to_fp %x : tensor<4xf8E4M3FN> -> tensor<4xf8E4M3FN>
  %d = tt.fp_to_fp %x : tensor<4xf8E4M3FN> -> tensor<4xf32>
  tt.return %a, %b, %c, %d : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E4M3FN>, tensor<4xf32>
}
// OUTPUT
// module {
//   tt.func public @shape_of_constant() -> (tensor<8x4xf32>, tensor<4xi32>) {
//     %cst = arith.constant dense<1.000000e+00> : tensor<8x4xf32>
//     %cst_0 = arith.constant dense<2> : tensor<4xi32>
//     tt.return %cst, %cst_0 : tensor<8x4xf32>, tensor<4xi32>
//   }
//   tt.func public @view_of_constant() -> (tensor<4x1xi32>, tensor<2x2xi32>, tensor<2x2xi32>) {
//     %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
//     %cst = arith.constant dense<[[1], [2], [3], [4]]> : tensor<4x1xi32>
//     %cst_0 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
//     %d = tt.reshape %c allow_reorder : tensor<4xi32> -> tensor<2x2xi32>
//     tt.return %cst, %cst_0, %d : tensor<4x1xi32>, tensor<2x2xi32>, tensor<2x2xi32>
//   }
//   tt.func public @shape_of_splat(%x: f32) -> (tensor<4x8xf32>, tensor<2x2xf32>) {
//     %a = tt.splat %x : f32 -> tensor<4x8xf32>
//     %b = tt.splat %x : f32 -> tensor<2x2xf32>
//     tt.return %a, %b : tensor<4x8xf32>, tensor<2x2xf32>
//   }
//   tt.func public @shape_kept(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
//     %b = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<4x8xf32>
//     tt.return %x, %b : tensor<4x8xf32>, tensor<4x8xf32>
//   }
//   tt.func public @shape_twice(%x: tensor<1x1xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>) {
//     %a = tt.broadcast %x : tensor<1x1xf32> -> tensor<4x8xf32>
//     %b = tt.reshape %y allow_reorder : tensor<4x8xf32> -> tensor<8x4xf32>
//     tt.return %a, %b : tensor<4x8xf32>, tensor<8x4xf32>
//   }
//   tt.func public @expand_of_broadcast(%x: tensor<1xf32>) -> tensor<1x4xf32> {
//     %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<1xf32> -> tensor<1x1xf32>
//     %a = tt.broadcast %0 : tensor<1x1xf32> -> tensor<1x4xf32>
//     tt.return %a : tensor<1x4xf32>
//   }
//   tt.func public @transpose_twice(%x: tensor<2x4x8xf32>) -> (tensor<8x4x2xf32>, tensor<2x4x8xf32>) {
//     %b = tt.trans %x {order = array<i32: 2, 1, 0>} : tensor<2x4x8xf32> -> tensor<8x4x2xf32>
//     tt.return %b, %x : tensor<8x4x2xf32>, tensor<2x4x8xf32>
//   }
//   tt.func public @unsplat_uniform(%x: f32) -> f32 {
//     tt.return %x : f32
//   }
//   tt.func public @range_of_one() -> (tensor<4xi32>, tensor<8xi32>) {
//     %cst = arith.constant dense<5> : tensor<4xi32>
//     %b = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     tt.return %cst, %b : tensor<4xi32>, tensor<8xi32>
//   }
//   tt.func public @compare_range() -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
//     %c7 = arith.constant dense<7> : tensor<8xi32>
//     %cst = arith.constant dense<true> : tensor<8xi1>
//     %cst_0 = arith.constant dense<false> : tensor<8xi1>
//     %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %b = arith.cmpi slt, %r, %c7 : tensor<8xi32>
//     tt.return %cst, %b, %cst_0 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
//   }
//   tt.func public @compare_steps(%x: i32, %y: i64) -> (tensor<8x8xi1>, tensor<8xi1>) {
//     %c4 = arith.constant 4 : i64
//     %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %t = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
//     %0 = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
//     %1 = tt.broadcast %0 : tensor<8x1xi32> -> tensor<8x8xi32>
//     %2 = tt.expand_dims %r {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
//     %3 = tt.broadcast %2 : tensor<1x8xi32> -> tensor<8x8xi32>
//     %a = arith.cmpi sgt, %1, %3 : tensor<8x8xi32>
//     %u = arith.muli %y, %c4 : i64
//     %uu = tt.splat %u : i64 -> tensor<8xi64>
//     %r64 = arith.extsi %r : tensor<8xi32> to tensor<8xi64>
//     %t64 = arith.extsi %t : tensor<8xi32> to tensor<8xi64>
//     %v = arith.addi %uu, %r64 : tensor<8xi64>
//     %w = arith.addi %uu, %t64 : tensor<8xi64>
//     %b = arith.cmpi sgt, %v, %w : tensor<8xi64>
//     tt.return %a, %b : tensor<8x8xi1>, tensor<8xi1>
//   }
//   tt.func public @compare_extended_with_splat(%i: i32, %k: i64) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
//     %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %rows = arith.extsi %r : tensor<8xi32> to tensor<8xi64>
//     %t = tt.splat %k : i64 -> tensor<8xi64>
//     %0 = tt.splat %i : i32 -> tensor<8xi32>
//     %a = arith.cmpi slt, %r, %0 : tensor<8xi32>
//     %1 = tt.splat %i : i32 -> tensor<8xi32>
//     %b = arith.cmpi slt, %1, %r : tensor<8xi32>
//     %c = arith.cmpi slt, %rows, %t : tensor<8xi64>
//     tt.return %a, %b, %c : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
//   }
//   tt.func public @split_of_join(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
//     tt.return %x, %y : tensor<4xf32>, tensor<4xf32>
//   }
//   tt.func public @join_of_split(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
//     %l, %r = tt.split %x : tensor<4x2xf32> -> tensor<4xf32>
//     %b = tt.join %r, %l : tensor<4xf32> -> tensor<4x2xf32>
//     tt.return %x, %b : tensor<4x2xf32>, tensor<4x2xf32>
//   }
//   tt.func public @join_or_split_constant() -> (tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>) {
//     %z = arith.constant dense<0.000000e+00> : tensor<4xf32>
//     %n = arith.constant dense<-0.000000e+00> : tensor<4xf32>
//     %cst = arith.constant dense<2.000000e+00> : tensor<4x2xf32>
//     %cst_0 = arith.constant dense<2.000000e+00> : tensor<4xf32>
//     %b = tt.join %z, %n : tensor<4xf32> -> tensor<4x2xf32>
//     tt.return %cst, %cst_0, %cst_0, %b : tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>
//   }
//   tt.func public @fold_high_product(%x: i32) -> (i32, i32) {
//     %c0_i32 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     tt.return %c1, %c0_i32 : i32, i32
//   }
//   tt.func public @float_to_own_type_or_zero(%x: tensor<4xf8E4M3FN>) -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E4M3FN>, tensor<4xf32>) {
//     %cst = arith.constant dense<-0.000000e+00> : tensor<4xf8E4M3FN>
//     %cst_0 = arith.constant dense<0.000000e+00> : tensor<4xf8E4M3FNUZ>
//     %d = tt.fp_to_fp %x : tensor<4xf8E4M3FN> -> tensor<4xf32>
//     tt.return %cst, %cst_0, %x, %d : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E4M3FN>, tensor<4xf32>
//   }
// }
