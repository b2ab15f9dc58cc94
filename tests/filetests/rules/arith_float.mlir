// RUN: canonicalize
// Each function is named after the rule it is for.
// A division by zero sets a flag that a program may ask for.
tt.func public @fold_floats(%u: f32, %v: f32) -> (f32, f32) {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %a = arith.addf %one, %half : f32
  %b = arith.divf %one, %z : f32
  tt.return %a, %b : f32, f32
}
tt.func public @fold_negation(%u: f32, %v: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %a = arith.negf %one : f32
  %b = arith.negf %u : f32
  %c = arith.negf %b : f32
  tt.return %a, %c : f32, f32
}
// -0.0 + 0.0 is 0.0.
tt.func public @add_negative_zero(%u: f32, %v: f32) -> (f32, f32) {
  %z = arith.constant 0.0 : f32
  %nz = arith.constant -0.0 : f32
  %a = arith.addf %u, %nz : f32
  %b = arith.addf %u, %z : f32
  tt.return %a, %b : f32, f32
}
tt.func public @subtract_zero(%u: f32, %v: f32) -> (f32, f32) {
  %z = arith.constant 0.0 : f32
  %nz = arith.constant -0.0 : f32
  %a = arith.subf %u, %z : f32
  %b = arith.subf %u, %nz : f32
  tt.return %a, %b : f32, f32
}
tt.func public @one_right_float(%u: f32, %v: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %a = arith.mulf %u, %one : f32
  %b = arith.divf %v, %one : f32
  tt.return %a, %b : f32, f32
}
tt.func public @minus_one_right(%u: f32, %v: f32) -> f32 {
  %m = arith.constant -1.0 : f32
  %a = arith.mulf %u, %m : f32
  tt.return %a : f32
}
tt.func public @add_negated(%u: f32, %v: f32) -> (f32, f32) {
  %n = arith.negf %v : f32
  %a = arith.addf %u, %n : f32
  %b = arith.addf %n, %u : f32
  tt.return %a, %b : f32, f32
}
tt.func public @subtract_negated(%u: f32, %v: f32) -> f32 {
  %n = arith.negf %v : f32
  %a = arith.subf %u, %n : f32
  tt.return %a : f32
}
tt.func public @both_negated(%u: f32, %v: f32) -> f32 {
  %n = arith.negf %u : f32
  %k = arith.negf %v : f32
  %a = arith.mulf %n, %k : f32
  tt.return %a : f32
}
// A third is no number.
tt.func public @divide_by_power_of_two(%u: f32, %v: f32) -> (f32, f32) {
  %four = arith.constant 4.0 : f32
  %three = arith.constant 3.0 : f32
  %a = arith.divf %u, %four : f32
  %b = arith.divf %u, %three : f32
  tt.return %a, %b : f32, f32
}
tt.func public @idempotent_float(%u: f32, %v: f32) -> f32 {
  %a = arith.maximumf %u, %u : f32
  tt.return %a : f32
}
// The maximum with NaN is NaN.
tt.func public @infinity_right(%u: f32, %v: f32) -> (f32, f32, f32) {
  %inf = arith.constant 0x7F800000 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %a = arith.maximumf %u, %ninf : f32
  %b = arith.maxnumf %u, %inf : f32
  %c = arith.maximumf %u, %inf : f32
  tt.return %a, %b, %c : f32, f32, f32
}
tt.func public @absolute_of_sign(%u: f32, %v: f32) -> f32 {
  %n = arith.negf %u : f32
  %a = math.absf %n : f32
  tt.return %a : f32
}
tt.func public @fma_without_product_or_sum(%u: f32, %v: f32) -> (f32, f32, f32) {
  %z = arith.constant 0.0 : f32
  %nz = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %a = math.fma %u, %one, %v : f32
  %b = math.fma %u, %v, %nz : f32
  %c = math.fma %u, %v, %z : f32
  tt.return %a, %b, %c : f32, f32, f32
}
// OUTPUT
// module {
//   tt.func public @fold_floats(%u: f32, %v: f32) -> (f32, f32) {
//     %z = arith.constant 0.000000e+00 : f32
//     %one = arith.constant 1.000000e+00 : f32
//     %cst = arith.constant 1.500000e+00 : f32
//     %b = arith.divf %one, %z : f32
//     tt.return %cst, %b : f32, f32
//   }
//   tt.func public @fold_negation(%u: f32, %v: f32) -> (f32, f32) {
//     %cst = arith.constant -1.000000e+00 : f32
//     tt.return %cst, %u : f32, f32
//   }
//   tt.func public @add_negative_zero(%u: f32, %v: f32) -> (f32, f32) {
//     %z = arith.constant 0.000000e+00 : f32
//     %b = arith.addf %u, %z : f32
//     tt.return %u, %b : f32, f32
//   }
//   tt.func public @subtract_zero(%u: f32, %v: f32) -> (f32, f32) {
//     %nz = arith.constant -0.000000e+00 : f32
//     %b = arith.subf %u, %nz : f32
//     tt.return %u, %b : f32, f32
//   }
//   tt.func public @one_right_float(%u: f32, %v: f32) -> (f32, f32) {
//     tt.return %u, %v : f32, f32
//   }
//   tt.func public @minus_one_right(%u: f32, %v: f32) -> f32 {
//     %a = arith.negf %u : f32
//     tt.return %a : f32
//   }
//   tt.func public @add_negated(%u: f32, %v: f32) -> (f32, f32) {
//     %a = arith.subf %u, %v : f32
//     %b = arith.subf %u, %v : f32
//     tt.return %a, %b : f32, f32
//   }
//   tt.func public @subtract_negated(%u: f32, %v: f32) -> f32 {
//     %a = arith.addf %u, %v : f32
//     tt.return %a : f32
//   }
//   tt.func public @both_negated(%u: f32, %v: f32) -> f32 {
//     %a = arith.mulf %u, %v : f32
//     tt.return %a : f32
//   }
//   tt.func public @divide_by_power_of_two(%u: f32, %v: f32) -> (f32, f32) {
//     %three = arith.constant 3.000000e+00 : f32
//     %cst = arith.constant 2.500000e-01 : f32
//     %a = arith.mulf %u, %cst : f32
//     %b = arith.divf %u, %three : f32
//     tt.return %a, %b : f32, f32
//   }
//   tt.func public @idempotent_float(%u: f32, %v: f32) -> f32 {
//     tt.return %u : f32
//   }
//   tt.func public @infinity_right(%u: f32, %v: f32) -> (f32, f32, f32) {
//     %inf = arith.constant 0x7F800000 : f32
//     %c = arith.maximumf %u, %inf : f32
//     tt.return %u, %inf, %c : f32, f32, f32
//   }
//   tt.func public @absolute_of_sign(%u: f32, %v: f32) -> f32 {
//     %a = math.absf %u : f32
//     tt.return %a : f32
//   }
//   tt.func public @fma_without_product_or_sum(%u: f32, %v: f32) -> (f32, f32, f32) {
//     %z = arith.constant 0.000000e+00 : f32
//     %a = arith.addf %u, %v : f32
//     %b = arith.mulf %u, %v : f32
//     %c = math.fma %u, %v, %z : f32
//     tt.return %a, %b, %c : f32, f32, f32
//   }
// }
