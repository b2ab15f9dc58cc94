"""Texts in spellings/ and examples/ against Triton's own reader: what we print in either form is read, and comes back.

The files of spellings/ are as Triton prints them (but for the names of values): each attribute of each operation
stands in one at least, so that they say what is expected where Triton is not installed, too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401
from tests.dialects.test_examples import OURS_ALONE, PROGRAMS
from tritium.dialects.arith_flags import FastMath, Overflow
from tritium.ir import OPS, ParseError, parse_attribute, parse_module, print_op, verify

FILES = sorted((Path(__file__).parent / "spellings").glob("*.mlir"))
TEXTS = [pytest.param(path.read_text(), id=path.stem) for path in FILES]
MINE = ("arith", "builtin", "cf", "math", "scf", "tt", "ub")


@pytest.mark.parametrize("text", TEXTS)
def test_print_is_the_identity(text):
    module = parse_module(text)
    verify(module)
    assert print_op(module) + "\n" == text
    generic = print_op(module, generic=True)
    assert print_op(parse_module(generic)) + "\n" == text
    assert print_op(parse_module(generic), generic=True) == generic


@pytest.mark.parametrize("text", [*TEXTS, *(p for p in PROGRAMS if p.id.rstrip("0123456789") in MINE)])
def test_triton_reads_either_form(text, triton_oracle):
    if OURS_ALONE.search(text):
        pytest.skip("Triton does not have this")
    module = parse_module(text)
    theirs = triton_oracle.read(print_op(module))
    assert triton_oracle.read(print_op(module, generic=True)) == theirs
    again = parse_module(theirs)
    verify(again)
    assert print_op(again) + "\n" == theirs


def test_each_attribute_stands_in_a_text():
    seen = {name: set() for name in OPS}
    for text in [p.values[0] for p in (*TEXTS, *PROGRAMS)]:
        for op in parse_module(text).walk():
            seen[op.name] |= set(op.attributes)
    absent = {
        f"{name} {field}"
        for name, cls in OPS.items()
        if name.partition(".")[0] in MINE and cls.__module__.startswith("tritium.")
        for field in cls.attribute_fields
        if field not in seen[name] and field not in ("fastmath", "arg_attrs", "res_attrs")
    }
    assert not absent


def test_flags_are_sets():
    assert str(parse_attribute("#arith.fastmath<contract, nnan,reassoc>")) == "#arith.fastmath<reassoc,nnan,contract>"
    assert parse_attribute(f"#arith.fastmath<{','.join(FastMath.ALL)}>") is FastMath.of("fast")
    assert str(FastMath()) == "#arith.fastmath<none>"
    assert str(parse_attribute("#arith.overflow<nuw, nsw>")) == "#arith.overflow<nsw, nuw>"
    assert Overflow.of("none") is Overflow()
    for wrong in ("#arith.fastmath<quick>", "#arith.overflow<nsw", "#arith.overflow<nsw nuw>", "#arith.overflow<>"):
        with pytest.raises(ParseError):
            parse_attribute(wrong)


@pytest.mark.parametrize(
    "line, message",
    [
        ("%0 = arith.convertf %f : f32 to f32", "floats of one width"),
        ("%0 = math.fpowi %f, %f : f32, f32", "whole power"),
        ("%0 = arith.scaling_extf %f, %f : f32, f32 to f32", "more bits"),
        ("llvm.intr.assume %n : i32", "must be i1"),
        ('"llvm.intr.assume"(%c, %n) <{op_bundle_sizes = array<i32: 1>}> : (i1, i32) -> ()', "bundles"),
        ("%0 = tt.approx_divf %d, %d : f64", "works on f32"),
        ("%0 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32", "a load is relaxed or acquire"),
        ("tt.atomic_store acquire, gpu, %p, %n : !tt.ptr<i32>", "a store is relaxed or release"),
        ("%0 = tt.atomic_poll release, gpu, %p, %n : !tt.ptr<i32>, i32 -> i1", "polling is relaxed or acquire"),
        ("%0 = tt.atomic_poll relaxed, gpu, %p, %n timeout %n : !tt.ptr<i32>, i32 -> i1", "timeout must be i64"),
        ("%0 = tt.atomic_poll relaxed, gpu, %p, %n : !tt.ptr<i32>, i32 -> i32", "result must be i1"),
        ("tt.descriptor_reduce add, %e[%n], %t : !tt.tensordesc<8xf16>, tensor<8xf32>", "describes blocks"),
        ("%0 = tt.descriptor_load %e[%n, %n] : !tt.tensordesc<8xf16> -> tensor<8xf16>", "2 indices for 1 dim"),
        ("%0 = tt.descriptor_gather %e[%i, %n] : (!tt.tensordesc<8xf16>, tensor<8xi32>, i32) -> tensor<8x8xf16>", "one row"),
        ("%0 = tt.descriptor_gather %r[%t, %n] : (!tt.tensordesc<1x8xf16>, tensor<8xf32>, i32) -> tensor<8x8xf16>", "i16 or i32"),
        ("%0 = tt.descriptor_gather %r[%i, %d] : (!tt.tensordesc<1x8xf16>, tensor<8xi32>, f64) -> tensor<8x8xf16>", "column"),
        ("%0 = tt.descriptor_gather %r[%i, %n] : (!tt.tensordesc<1x8xf16>, tensor<8xi32>, i32) -> tensor<4x8xf16>", "go with"),
        ("%0 = tt.descriptor_gather %r[%i, %n] : (!tt.tensordesc<1x8xf16>, tensor<8xi32>, i32) -> tensor<8x8xf16>", "too small"),
        ("%0 = tt.dot_scaled %b, %b, %a lhs = e2m1 rhs = e4m3 {fastMath = true} : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xf32>", "do not fit"),
        ("%0 = tt.dot_scaled %b scale %s, %b, %a lhs = e4m3 rhs = e4m3 {fastMath = true} : tensor<16x16xi8>, tensor<16x2xi8> * tensor<16x16xi8> -> tensor<16x16xf32>", "scales of a"),
        ("%0 = tt.dot_scaled %b scale %b, %b, %a lhs = e4m3 rhs = e4m3 {fastMath = true} : tensor<16x16xi8>, tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xf32>", "scales of a"),
        ("%0 = tt.dot_scaled %t, %t, %t lhs = e4m3 rhs = e4m3 {fastMath = true} : tensor<8xf32> * tensor<8xf32> -> tensor<8xf32>", "one rank"),
        ('%0 = "tt.map_elementwise"(%t) <{pack = 3 : i32}> ({\n^bb0(%x: f32):\n  tt.map_elementwise.return %x : f32\n}) : (tensor<8xf32>) -> tensor<8xf32>', "power of two"),
        ('%0 = "tt.map_elementwise"(%t) <{pack = 2 : i32}> ({\n^bb0(%x: f32):\n  tt.map_elementwise.return %x, %x : f32, f32\n}) : (tensor<8xf32>) -> tensor<8xf32>', "must take"),
        ('%0 = "tt.map_elementwise"(%t) <{pack = 1 : i32}> ({\n^bb0(%x: f32):\n  tt.map_elementwise.return %n : i32\n}) : (tensor<8xf32>) -> tensor<8xf32>', "must return"),
        ('%0 = "tt.map_elementwise"(%t) <{pack = 1 : i32}> ({\n^bb0(%x: f32):\n  tt.store %p, %n : !tt.ptr<i32>\n  tt.map_elementwise.return %x : f32\n}) : (tensor<8xf32>) -> tensor<8xf32>', "writes to memory"),
        ('%0 = scf.index_switch %k -> i32\ncase 1 {\n  scf.yield %n : i32\n}\ncase 1 {\n  scf.yield %n : i32\n}\ndefault {\n  scf.yield %n : i32\n}', "cases"),
        ('%0 = scf.index_switch %k -> i32\ndefault {\n  scf.yield %c : i1\n}', "must yield"),
        ("%0 = scf.execute_region -> i32 {\n  scf.yield %c : i1\n}", "must yield"),
        ("%0 = math.isnan %n : i32", "asks floats"),
        ('%0 = tt.elementwise_inline_asm "" {constraints = "", packed_element = 0 : i32, pure = true} -> i32', "must be 1 or more"),
        ('%0 = tt.elementwise_inline_asm "" {constraints = "", packed_element = 1 : i32, pure = true} %t : tensor<8xf32> -> i32', "all shapes must be equal"),
        ('%0 = tt.elementwise_inline_asm "" {constraints = "", packed_element = 3 : i32, pure = true} %t : tensor<8xf32> -> tensor<8xf32>', "whole groups of 3"),
        ('%0 = tt.elementwise_inline_asm "" {constraints = "", packed_element = 1 : i32, pure = true} %t : tensor<8xf32> -> tensor<4xf32>', "all shapes must be equal"),
        ("%0 = tt.join %f, %f : f32 -> tensor<2xf32>", "do not join"),
        ("%0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_first>} : !tt.ptr<i32>", "a load is not cached as wt"),
        ("tt.store %p, %n {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>} : !tt.ptr<i32>", "a store is not cached as ca"),
    ],
)  # fmt: skip
def test_what_does_not_verify(line, message):
    arguments = (
        "%n: i32, %f: f32, %d: f64, %c: i1, %p: !tt.ptr<i32>, %k: index, %t: tensor<8xf32>, %i: tensor<8xi32>, "
        "%e: !tt.tensordesc<8xf16>, %r: !tt.tensordesc<1x8xf16>, %a: tensor<16x16xf32>, %b: tensor<16x16xi8>, %s: tensor<16x2xi8>"
    )
    module = parse_module(f"tt.func @f({arguments}) {{\n{line}\ntt.return\n}}")
    with pytest.raises(Exception, match=re.escape(message)):
        verify(module)


def test_hints_of_loops(triton_oracle):
    text = (
        "#loop_licm = #llvm.loop_licm<disable = true, versioningDisable = true>\n"
        "#loop_unroll = #llvm.loop_unroll<count = 4 : i32>\n"
        "#loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll, licm = #loop_licm, mustProgress = true>\n"
        "module {\n  tt.func @f(%arg0: i32) {\n    scf.for %arg1 = %arg0 to %arg0 step %arg0  : i32 {\n"
        "    } {llvm.loop_annotation = #loop_annotation}\n    tt.return\n  }\n}\n"
    )
    plain = text[text.index("module") :].replace(
        "#loop_annotation",
        "#llvm.loop_annotation<unroll = <count = 4 : i32>, licm = <disable = true, versioningDisable = true>, mustProgress = true>",
    )
    assert triton_oracle.read(plain) == text
    for source in (text, plain, print_op(parse_module(text), generic=True)):
        assert print_op(parse_module(source)) + "\n" == text
    for wrong in ("licm = <disable = true", "licm = <disable = true, disable = true>", "licm <>", "= 1"):
        with pytest.raises(ParseError):
            parse_attribute(f"#llvm.loop_annotation<{wrong}>")
