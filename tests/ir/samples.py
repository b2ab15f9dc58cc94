"""Texts that several tests read."""

from __future__ import annotations

import textwrap

import tritium.dialects  # noqa: F401  (the operations that the texts name)

ADD = """\
module {
  tt.func public @add_kernel(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
    %c1024_i32 = arith.constant 1024 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c1024_i32 : i32
    %offsets = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %offsets_0 = tt.splat %start : i32 -> tensor<1024xi32>
    %offsets_1 = arith.addi %offsets_0, %offsets : tensor<1024xi32>
    %mask = tt.splat %n : i32 -> tensor<1024xi32>
    %mask_2 = arith.cmpi slt, %offsets_1, %mask : tensor<1024xi32>
    %x = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %x_3 = tt.addptr %x, %offsets_1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x_4 = tt.load %x_3, %mask_2 : tensor<1024x!tt.ptr<f32>>
    tt.store %x_3, %x_4, %mask_2 : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}"""


def body(text: str, arguments: str = "") -> str:
    """A module with one function of these lines."""
    inner = textwrap.indent(textwrap.dedent(text).strip(), "    ")
    return f"module {{\n  tt.func @f({arguments}) {{\n{inner}\n    tt.return\n  }}\n}}"


# Every operation with syntax of its own, and every part that is optional, at least once.
LINES = [
    "%0 = arith.addi %a, %b overflow<nsw, nuw> : i32",
    "%0 = arith.addi %a, %b {note = 1 : i64} : i32",
    "%0 = arith.addf %x, %x fastmath<contract> : f32",
    "%0 = arith.negf %x : f32",
    "%0 = arith.cmpf oeq, %x, %x : f32",
    "%0 = arith.select %c, %a, %b : i32",
    "%0 = arith.select %c, %t, %t : tensor<8xf32>",
    "%0 = arith.select %m, %t, %t : tensor<8xi1>, tensor<8xf32>",
    "%0 = arith.extsi %a : i32 to i64",
    "%0 = arith.extui %a nneg : i32 to i64",
    "%0 = arith.truncf %x toward_zero : f32 to f16",
    "%0 = arith.index_cast %a : i32 to index",
    "%low, %high = arith.mului_extended %a, %b : i32",
    "%0 = math.fma %x, %x, %x : f32",
    "%0 = math.exp2 %t : tensor<8xf32>",
    "%c-7_i32 = arith.constant -7 : i32",
    "%true = arith.constant true",
    "%c3 = arith.constant 3 : index",
    "%cst = arith.constant 0x7F800000 : f32",
    "%cst = arith.constant 0xFFF0000000000000 : f64",
    "%cst = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
    "%cst = arith.constant dense<[true, false]> : tensor<2xi1>",
    "%cst = arith.constant dense<0xFF80> : tensor<4xbf16>",
    "%cst = arith.constant dense<1.000000e-01> : vector<4xf64>",
    "%cst = arith.constant {k} 2.500000e-01 : f16",
    "tt.call @g(%a) : (i32) -> ()",
    "%0:2 = tt.call @g() : () -> (i32, f32)",
    '%0 = tt.call @"strange name"(%a) : (i32) -> i32',
    "%0 = tt.get_program_id z : i32",
    "%0 = tt.get_num_programs y : i32",
    "%0 = tt.int_to_ptr %l : i64 -> !tt.ptr<f32>",
    "%0 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64",
    "%0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>",
    "%0 = tt.fp_to_fp %x, rounding = rtne : f32 -> f8E5M2",
    "%0 = tt.fp_to_fp %h : f16 -> f32",
    "%0 = tt.addptr %p, %a : !tt.ptr<f32>, i32",
    "%0 = tt.clampf %x, %x, %x, propagateNan = none : f32",
    "%0 = tt.precise_divf %x, %x : f32",
    "%0 = tt.approx_divf %x, %x : f32",
    "%0 = tt.mulhiui %a, %b : i32",
    (
        "%0 = tt.extern_elementwise %x, %x"
        ' {libname = "m", libpath = "", pure = true, symbol = "hypot"} : (f32, f32) -> f32'
    ),
    (
        '%0 = tt.elementwise_inline_asm "a\\22\\0Ab" {constraints = "=r", packed_element = 1 : i32, pure = true}'
        " %t, %t : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>"
    ),
    "%0 = tt.unsplat %one : tensor<1xf32>",
    "%0 = tt.expand_dims %t {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>",
    "%0 = tt.broadcast %col : tensor<8x1xf32> -> tensor<8x4xf32>",
    "%0 = tt.reshape %t allow_reorder efficient_layout : tensor<8xf32> -> tensor<2x4xf32>",
    "%0 = tt.cat %t, %t : tensor<8xf32> -> tensor<16xf32>",
    "%0 = tt.join %t, %t : tensor<8xf32> -> tensor<8x2xf32>",
    "%outLHS, %outRHS = tt.split %pair : tensor<8x2xf32> -> tensor<8xf32>",
    "%0 = tt.trans %pair {order = array<i32: 1, 0>} : tensor<8x2xf32> -> tensor<2x8xf32>",
    "%0 = tt.gather %t[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>",
    "%0 = tt.load %p : !tt.ptr<f32>",
    (
        "%0 = tt.load %p, %c, %x {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>,"
        " isVolatile = true} : !tt.ptr<f32>"
    ),
    "%0 = tt.load %bp {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<4x8xf16>>",
    "tt.store %p, %x : !tt.ptr<f32>",
    "tt.store %p, %x, %c {boundaryCheck = array<i32: 0>} : !tt.ptr<f32>",
    "tt.store %p, %x {ignore_cta} : !tt.ptr<f32>",
    "%0 = tt.atomic_load acquire, sys, %ip, %c : (!tt.ptr<i32>, i1) -> i32",
    "tt.atomic_store release, gpu, %p, %x, %c : !tt.ptr<f32>",
    "%0 = tt.atomic_poll relaxed, gpu, %ip, %a : !tt.ptr<i32>, i32 -> i1",
    "%0 = tt.atomic_poll acquire, sys, %ip, %a timeout %l : !tt.ptr<i32>, i32 -> i1",
    "tt.grid_dependency_wait",
    "tt.grid_dependency_launch_dependents",
    "%0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %x, %c : (!tt.ptr<f32>, f32, i1) -> f32",
    "%0 = tt.atomic_rmw and, acq_rel, sys, %ip, %a : (!tt.ptr<i32>, i32) -> i32",
    "%0 = tt.atomic_cas acquire, cta, %ip, %a, %b : (!tt.ptr<i32>, i32, i32) -> i32",
    "%0 = tt.make_tensor_ptr %p, [%l, %l], [%l, %l], [%a, %b] {order = array<i32: 1, 0>} : !tt.ptr<tensor<4x8xf32>>",
    "%0 = tt.advance %bp, [%a, %b] : !tt.ptr<tensor<4x8xf16>>",
    "%0 = tt.make_tensor_descriptor %p, [%a, %b], [%l, %l] : <f32>, <4x8xf32>",
    "%0 = tt.descriptor_load %d[%a, %b] : !tt.tensordesc<4x8xf16> -> tensor<4x8xf16>",
    "tt.descriptor_store %d[%a, %b], %block : !tt.tensordesc<4x8xf16>, tensor<4x8xf16>",
    "tt.descriptor_reduce add, %d[%a, %b], %block : !tt.tensordesc<4x8xf16>, tensor<4x8xf16>",
    "%0 = tt.descriptor_gather %row[%i, %a] : (!tt.tensordesc<1x16xf16>, tensor<8xi32>, i32) -> tensor<8x16xf16>",
    "tt.descriptor_scatter %row[%i, %a], %rows : !tt.tensordesc<1x16xf16>, tensor<8xi32>, i32, tensor<8x16xf16>",
    (
        "%0 = tt.dot_scaled %bytes scale %s8, %bytes scale %s8, %acc lhs = e4m3 rhs = e5m2 {fastMath = true}"
        " : tensor<16x16xi8>, tensor<16x1xi8> * tensor<16x16xi8>, tensor<16x1xi8> -> tensor<16x16xf32>"
    ),
    (
        "%0 = tt.dot_scaled %bytes, %sq, %acc lhs = e4m3 rhs = fp16 {fastMath = false, lhs_k_pack = false}"
        " : tensor<16x16xi8> * tensor<16x16xf16> -> tensor<16x16xf32>"
    ),
    "%0 = tt.dot %sq, %sq, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>",
    (
        "%0 = tt.dot %sq, %sq, %acc, inputPrecision = bf16x3 {maxNumImpreciseAcc = 1 : i32}"
        " : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>"
    ),
    "%0 = tt.histogram %i : tensor<8xi32> -> tensor<16xi32>",
    "%0 = tt.histogram %i, %m : tensor<8xi32> -> tensor<16xi32>",
    'tt.print "x: " {hex = true, isSigned = array<i32: 1>} : %a : i32',
    'tt.print "here" {hex = false, isSigned = array<i32>}',
    'tt.assert %m, "no" : tensor<8xi1>',
    "llvm.intr.assume %c : i1",
    "%0 = ub.poison : tensor<8xf32>",
    "%0 = builtin.unrealized_conversion_cast %a : i32 to i64",
    "%0:2 = builtin.unrealized_conversion_cast to i64, f32",
]
ARGUMENTS = (
    "%a: i32, %b: i32, %l: i64, %c: i1, %x: f32, %h: f16, %p: !tt.ptr<f32>, %ip: !tt.ptr<i32>, %t: tensor<8xf32>, "
    "%m: tensor<8xi1>, %i: tensor<8xi32>, %one: tensor<1xf32>, %col: tensor<8x1xf32>, %pair: tensor<8x2xf32>, "
    "%bp: !tt.ptr<tensor<4x8xf16>>, %d: !tt.tensordesc<4x8xf16>, %block: tensor<4x8xf16>, "
    "%row: !tt.tensordesc<1x16xf16>, %rows: tensor<8x16xf16>, %bytes: tensor<16x16xi8>, %s8: tensor<16x1xi8>, "
    "%sq: tensor<16x16xf16>, %acc: tensor<16x16xf32>"
)
