"""The ttc dialect as text, and what its operations demand."""

from __future__ import annotations

import pytest

from tests.ir.samples import body
from tritium.ir import parse_module, print_op
from tritium.ir.verifier import failures

ARGUMENTS = (
    "%p: !tt.ptr<f32>, %bp: !tt.ptr<i8>, %i: index, %v: vector<8xf32>, %m: vector<8xi1>, %o: vector<8xi64>, "
    "%ps: vector<8x!tt.ptr<f32>>, %x: f32, %c: i1, %n: i32, %m4: vector<4xi1>"
)
GOOD = [
    "%0 = ttc.alloc : !ttc.buf<1024xf32>",
    "%b = ttc.alloc : !ttc.buf<64xf16>\n%0 = ttc.address %b[%i] : !ttc.buf<64xf16>, index",
    "%0 = ttc.offset_pointer %p, %o : !tt.ptr<f32>, vector<8xi64>",
    "%0 = ttc.splat %x : f32 -> vector<8xf32>",
    "%0 = ttc.load %p : !tt.ptr<f32> -> f32",
    "%0 = ttc.load %p, %m, %v {is_volatile = true} : !tt.ptr<f32> -> vector<8xf32>",
    "ttc.store %p, %v, %m : !tt.ptr<f32>, vector<8xf32>",
    "%0 = ttc.gather %ps, %m, %v : vector<8x!tt.ptr<f32>> -> vector<8xf32>",
    "ttc.scatter %ps, %v : vector<8x!tt.ptr<f32>>, vector<8xf32>",
    "%0 = ttc.shuffle %v, %v [7, 6, 0, 15] : vector<8xf32> -> vector<4xf32>",
    "%0 = ttc.extract %v {lane = 7 : i32} : vector<8xf32>",
    "%0 = ttc.clock : i64",
    'ttc.assert %c, "no" : i1',
    'ttc.check_bounds %ps[%i], %m in %p {access = "load", argument = 0 : i32} : vector<8x!tt.ptr<f32>>, index, !tt.ptr<f32>',
    "ttc.check_writable %ps[%i], %m {first = 3 : i32} : vector<8x!tt.ptr<f32>>, index",
    'ttc.print "x" {hex = false, isSigned = array<i32: 0>, shapes = array<i32: 1, 8>, types = "f32"} : %p : !tt.ptr<f32>',
]
BAD = [
    "%0 = ttc.clock : i32",
    "%0 = ttc.splat %x : f32 -> vector<8xf16>",
    "%0 = ttc.load %p : !tt.ptr<f32> -> vector<8xf16>",
    "%0 = ttc.load %p, %m4 : !tt.ptr<f32> -> vector<8xf32>",
    "%0 = ttc.load %x : f32 -> f32",
    "%0 = ttc.load %p, %m, %x : !tt.ptr<f32> -> vector<8xf32>",
    "ttc.store %bp, %v : !tt.ptr<i8>, vector<8xf32>",
    "ttc.store %p, %v, %c : !tt.ptr<f32>, vector<8xf32>",
    "%0 = ttc.gather %p : !tt.ptr<f32> -> f32",
    "%0 = ttc.gather %ps : vector<8x!tt.ptr<f32>> -> vector<4xf32>",
    "ttc.scatter %ps, %v, %m4 : vector<8x!tt.ptr<f32>>, vector<8xf32>",
    "%0 = ttc.shuffle %v, %v [7, 16] : vector<8xf32> -> vector<2xf32>",
    "%0 = ttc.shuffle %v, %v [7, 6] : vector<8xf32> -> vector<4xf32>",
    "%0 = ttc.extract %v {lane = 8 : i32} : vector<8xf32>",
    'ttc.assert %m, "no" : vector<8xi1>',
    '%0 = "ttc.offset_pointer"(%p, %o) : (!tt.ptr<f32>, vector<8xi64>) -> vector<4x!tt.ptr<f32>>',
    '%0 = "ttc.address"(%p, %i) : (!tt.ptr<f32>, index) -> !tt.ptr<f32>',
    'ttc.check_bounds %v[%i] in %p {access = "load", argument = 0 : i32} : vector<8xf32>, index, !tt.ptr<f32>',
    "ttc.check_writable %v[%i] {first = 3 : i32} : vector<8xf32>, index",
    "ttc.check_writable %ps[%i], %m4 {first = 3 : i32} : vector<8x!tt.ptr<f32>>, index",
    'ttc.print "x" {hex = false, isSigned = array<i32>, shapes = array<i32: 1, 8>, types = "f32"} : %p : !tt.ptr<f32>',
]


@pytest.mark.parametrize("lines", GOOD)
def test_good_operations_read_back(lines):
    text = body(lines, ARGUMENTS)
    module = parse_module(text)
    assert print_op(module) == text
    assert failures(module) == []
    assert print_op(parse_module(print_op(module, generic=True))) == text


@pytest.mark.parametrize("line", BAD)
def test_bad_operations_are_found(line):
    assert [f.invariant for f in failures(parse_module(body(line, ARGUMENTS)))] == ["V16"]
