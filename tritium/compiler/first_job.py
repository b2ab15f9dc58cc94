"""A small kernel, `TEXT`, which workers compile before their first job to import the modules that most kernels need."""

from __future__ import annotations

__all__ = ["NAME", "TEXT"]

NAME = "first_job"

TEXT = """\
module {
  tt.func public @first_job(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                            %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                            %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %c0_i32 = arith.constant 0 : i32
    %c16_i32 = arith.constant 16 : i32
    %c0 = arith.constant dense<0.000000e+00> : tensor<64x16xf16>
    %c1 = arith.constant dense<32> : tensor<16x1xi32>
    %c2 = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
    %c2048_i32 = arith.constant 2048 : i32
    %c3 = arith.constant dense<32> : tensor<64x1xi32>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %k = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %total = scf.for %at = %c0_i32 to %n step %c16_i32 iter_args(%t9 = %cst) -> (tensor<64x32xf32>)  : i32 {
      %inside = tt.splat %at : i32 -> tensor<16xi32>
      %i10 = arith.addi %inside, %k : tensor<16xi32>
      %i11 = tt.splat %n : i32 -> tensor<16xi32>
      %i12 = arith.cmpi slt, %i10, %i11 : tensor<16xi32>
      %x = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %x13 = tt.splat %n : i32 -> tensor<64x1xi32>
      %x14 = arith.muli %x, %x13 : tensor<64x1xi32>
      %x15 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %x16 = tt.addptr %x15, %x14 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %x17 = tt.expand_dims %i10 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %x18 = tt.broadcast %x16 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x16x!tt.ptr<f16>>
      %x19 = tt.broadcast %x17 : tensor<1x16xi32> -> tensor<64x16xi32>
      %x20 = tt.addptr %x18, %x19 : tensor<64x16x!tt.ptr<f16>>, tensor<64x16xi32>
      %x21 = tt.expand_dims %i12 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
      %x22 = tt.broadcast %x21 : tensor<1x16xi1> -> tensor<64x16xi1>
      %x23 = tt.load %x20, %x22, %c0 : tensor<64x16x!tt.ptr<f16>>
      %y = tt.expand_dims %i10 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %y24 = arith.muli %y, %c1 : tensor<16x1xi32>
      %y25 = tt.splat %b : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
      %y26 = tt.addptr %y25, %y24 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
      %y27 = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %y28 = tt.broadcast %y26 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
      %y29 = tt.broadcast %y27 : tensor<1x32xi32> -> tensor<16x32xi32>
      %y30 = tt.addptr %y28, %y29 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      %y31 = tt.expand_dims %i12 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
      %y32 = tt.broadcast %y31 : tensor<16x1xi1> -> tensor<16x32xi1>
      %y33 = tt.load %y30, %y32, %c2 : tensor<16x32x!tt.ptr<f16>>
      %t34 = tt.dot %x23, %y33, %t9, inputPrecision = tf32 : tensor<64x16xf16> * tensor<16x32xf16> -> tensor<64x32xf32>
      scf.yield %t34 : tensor<64x32xf32>
    }
    %t4 = "tt.reduce"(%total) <{axis = 1 : i32}> ({
    ^bb0(%t9: f32, %t10: f32):
      %t11 = arith.maxnumf %t9, %t10 : f32
      tt.reduce.return %t11 : f32
    }) : (tensor<64x32xf32>) -> tensor<64xf32>
    %t5 = tt.expand_dims %t4 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %t6 = tt.broadcast %t5 : tensor<64x1xf32> -> tensor<64x32xf32>
    %t7 = arith.subf %total, %t6 : tensor<64x32xf32>
    %t8 = math.exp %t7 : tensor<64x32xf32>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c2048_i32 : i32
    %2 = tt.addptr %c, %1 : !tt.ptr<f32>, i32
    %3 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %4 = arith.muli %3, %c3 : tensor<64x1xi32>
    %5 = tt.splat %2 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %6 = tt.addptr %5, %4 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %7 = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %8 = tt.broadcast %6 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x32x!tt.ptr<f32>>
    %9 = tt.broadcast %7 : tensor<1x32xi32> -> tensor<64x32xi32>
    %10 = tt.addptr %8, %9 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
    tt.store %10, %t8 : tensor<64x32x!tt.ptr<f32>>
    tt.return
  }
}
"""
