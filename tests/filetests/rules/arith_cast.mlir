// RUN: canonicalize
// Each function is named after the rule it is for.
tt.func public @fold_integer_cast() -> (i32, i32) {
  %c = arith.constant -2 : i8
  %a = arith.extsi %c : i8 to i32
  %b = arith.extui %c : i8 to i32
  tt.return %a, %b : i32, i32
}
// A sign that was extended is not a zero.
tt.func public @extend_twice(%x: i8) -> (i32, i32) {
  %a = arith.extui %x : i8 to i16
  %b = arith.extsi %a : i16 to i32
  %c = arith.extsi %x : i8 to i16
  %d = arith.extui %c : i16 to i32
  tt.return %b, %d : i32, i32
}
tt.func public @truncate_extended(%x: i16) -> (i16, i8, i32) {
  %a = arith.extsi %x : i16 to i32
  %b = arith.trunci %a : i32 to i16
  %c = arith.trunci %a : i32 to i8
  %d = arith.extui %x : i16 to i64
  %e = arith.trunci %d : i64 to i32
  tt.return %b, %c, %e : i16, i8, i32
}
tt.func public @truncate_twice(%x: i64) -> i8 {
  %a = arith.trunci %x : i64 to i32
  %b = arith.trunci %a : i32 to i8
  tt.return %b : i8
}
// A negative number that was extended is a large unsigned one.
tt.func public @convert_extended(%x: i8) -> (f32, f32) {
  %a = arith.extui %x : i8 to i32
  %b = arith.sitofp %a : i32 to f32
  %c = arith.extsi %x : i8 to i32
  %d = arith.uitofp %c : i32 to f32
  tt.return %b, %d : f32, f32
}
// 32 bits do not hold an index.
tt.func public @cast_to_index_and_back(%x: i32, %y: index) -> (i32, index) {
  %a = arith.index_cast %x : i32 to index
  %b = arith.index_cast %a : index to i32
  %c = arith.index_cast %y : index to i32
  %d = arith.index_cast %c : i32 to index
  tt.return %b, %d : i32, index
}
tt.func public @fold_float_cast() -> (f16, f32) {
  %c = arith.constant 1.0e-01 : f32
  %a = arith.truncf %c : f32 to f16
  %b = arith.extf %a : f16 to f32
  tt.return %a, %b : f16, f32
}
tt.func public @truncate_extended_float(%x: f16) -> (f16, bf16) {
  %a = arith.extf %x : f16 to f32
  %b = arith.truncf %a : f32 to f16
  %c = arith.truncf %a : f32 to bf16
  tt.return %b, %c : f16, bf16
}
tt.func public @extend_float_twice(%x: f16) -> f64 {
  %a = arith.extf %x : f16 to f32
  %b = arith.extf %a : f32 to f64
  tt.return %b : f64
}
tt.func public @fold_to_float() -> (f32, f32) {
  %c = arith.constant -2 : i8
  %a = arith.sitofp %c : i8 to f32
  %b = arith.uitofp %c : i8 to f32
  tt.return %a, %b : f32, f32
}
// What does not fit is left to the hardware.
tt.func public @fold_from_float() -> (i32, i32) {
  %c = arith.constant -2.5 : f32
  %a = arith.fptosi %c : f32 to i32
  %b = arith.fptoui %c : f32 to i32
  tt.return %a, %b : i32, i32
}
tt.func public @fold_bitcast(%x: f32) -> (i32, f32) {
  %c = arith.constant 1.0 : f32
  %a = arith.bitcast %c : f32 to i32
  %b = arith.bitcast %x : f32 to i32
  %d = arith.bitcast %b : i32 to f32
  tt.return %a, %d : i32, f32
}
// OUTPUT
// module {
//   tt.func public @fold_integer_cast() -> (i32, i32) {
//     %c-2_i32 = arith.constant -2 : i32
//     %c254_i32 = arith.constant 254 : i32
//     tt.return %c-2_i32, %c254_i32 : i32, i32
//   }
//   tt.func public @extend_twice(%x: i8) -> (i32, i32) {
//     %b = arith.extui %x : i8 to i32
//     %c = arith.extsi %x : i8 to i16
//     %d = arith.extui %c : i16 to i32
//     tt.return %b, %d : i32, i32
//   }
//   tt.func public @truncate_extended(%x: i16) -> (i16, i8, i32) {
//     %c = arith.trunci %x : i16 to i8
//     %e = arith.extui %x : i16 to i32
//     tt.return %x, %c, %e : i16, i8, i32
//   }
//   tt.func public @truncate_twice(%x: i64) -> i8 {
//     %b = arith.trunci %x : i64 to i8
//     tt.return %b : i8
//   }
//   tt.func public @convert_extended(%x: i8) -> (f32, f32) {
//     %b = arith.uitofp %x : i8 to f32
//     %c = arith.extsi %x : i8 to i32
//     %d = arith.uitofp %c : i32 to f32
//     tt.return %b, %d : f32, f32
//   }
//   tt.func public @cast_to_index_and_back(%x: i32, %y: index) -> (i32, index) {
//     %c = arith.index_cast %y : index to i32
//     %d = arith.index_cast %c : i32 to index
//     tt.return %x, %d : i32, index
//   }
//   tt.func public @fold_float_cast() -> (f16, f32) {
//     %cst = arith.constant 9.997550e-02 : f16
//     %cst_0 = arith.constant 0.0999755859 : f32
//     tt.return %cst, %cst_0 : f16, f32
//   }
//   tt.func public @truncate_extended_float(%x: f16) -> (f16, bf16) {
//     %a = arith.extf %x : f16 to f32
//     %c = arith.truncf %a : f32 to bf16
//     tt.return %x, %c : f16, bf16
//   }
//   tt.func public @extend_float_twice(%x: f16) -> f64 {
//     %b = arith.extf %x : f16 to f64
//     tt.return %b : f64
//   }
//   tt.func public @fold_to_float() -> (f32, f32) {
//     %cst = arith.constant -2.000000e+00 : f32
//     %cst_0 = arith.constant 2.540000e+02 : f32
//     tt.return %cst, %cst_0 : f32, f32
//   }
//   tt.func public @fold_from_float() -> (i32, i32) {
//     %c = arith.constant -2.500000e+00 : f32
//     %c-2_i32 = arith.constant -2 : i32
//     %b = arith.fptoui %c : f32 to i32
//     tt.return %c-2_i32, %b : i32, i32
//   }
//   tt.func public @fold_bitcast(%x: f32) -> (i32, f32) {
//     %c1065353216_i32 = arith.constant 1065353216 : i32
//     tt.return %c1065353216_i32, %x : i32, f32
//   }
// }
