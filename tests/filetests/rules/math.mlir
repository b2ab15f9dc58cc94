// RUN: canonicalize
// Each function is named after the rule it is for.
// An exponential is what the target says it is.
tt.func public @fold_float_function(%u: f32, %v: f32) -> (f32, f32, f32) {
  %one = arith.constant 1.0 : f32
  %four = arith.constant 4.0 : f32
  %h = arith.constant 2.5 : f32
  %a = math.roundeven %h : f32
  %b = math.sqrt %four : f32
  %c = math.exp %one : f32
  tt.return %a, %b, %c : f32, f32, f32
}
tt.func public @fold_integer_function() -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %m1 = arith.constant -1 : i32
  %a = math.ctpop %m1 : i32
  %b = math.ctlz %c1 : i32
  tt.return %a, %b : i32, i32
}
tt.func public @apply_twice(%u: f32, %v: f32) -> (f32, f32) {
  %n = math.absf %u : f32
  %a = math.absf %n : f32
  %f = math.floor %u : f32
  %b = math.ceil %f : f32
  tt.return %a, %b : f32, f32
}
tt.func public @copy_own_sign(%u: f32, %v: f32) -> (f32, f32) {
  %a = math.copysign %u, %u : f32
  %b = math.copysign %u, %v : f32
  tt.return %a, %b : f32, f32
}
// OUTPUT
// module {
//   tt.func public @fold_float_function(%u: f32, %v: f32) -> (f32, f32, f32) {
//     %one = arith.constant 1.000000e+00 : f32
//     %cst = arith.constant 2.000000e+00 : f32
//     %c = math.exp %one : f32
//     tt.return %cst, %cst, %c : f32, f32, f32
//   }
//   tt.func public @fold_integer_function() -> (i32, i32) {
//     %c32_i32 = arith.constant 32 : i32
//     %c31_i32 = arith.constant 31 : i32
//     tt.return %c32_i32, %c31_i32 : i32, i32
//   }
//   tt.func public @apply_twice(%u: f32, %v: f32) -> (f32, f32) {
//     %n = math.absf %u : f32
//     %f = math.floor %u : f32
//     %b = math.ceil %f : f32
//     tt.return %n, %b : f32, f32
//   }
//   tt.func public @copy_own_sign(%u: f32, %v: f32) -> (f32, f32) {
//     %b = math.copysign %u, %v : f32
//     tt.return %u, %b : f32, f32
//   }
// }
