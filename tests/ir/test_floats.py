"""Rounding and bit patterns of every float type, against NumPy and ml-style tables where there are any."""

from __future__ import annotations

import math

import pytest

from tritium.ir import FLOATS, FloatAttr, bits_float, f16, f32, float_bits, format_float, round_float

SMALL = [name for name, ty in FLOATS.items() if ty.width <= 8]


@pytest.mark.parametrize("name", SMALL)
def test_bits_and_values_are_inverse(name):
    ty = FLOATS[name]
    for bits in range(1 << ty.width):
        value = bits_float(bits, ty)
        if value == value:
            assert float_bits(value, ty) == bits, bits
            assert round_float(value, ty) == value


@pytest.mark.parametrize("name", SMALL)
def test_rounding_is_to_the_nearest_and_ties_go_to_the_even_pattern(name):
    ty = FLOATS[name]
    values = sorted({v for b in range(1 << ty.width) if math.isfinite(v := bits_float(b, ty))})
    for low, high in zip(values, values[1:]):
        middle = (low + high) / 2
        assert round_float((low + middle) / 2, ty) == low
        assert round_float((middle + high) / 2, ty) == high
        if name != "f8E8M0FNU":
            assert round_float(middle, ty) == (high if float_bits(low, ty) & 1 else low)


@pytest.mark.parametrize(
    "name, largest, next_up",
    [("f8E4M3FN", 448.0, math.nan), ("f8E5M2", 57344.0, math.inf), ("f8E4M3FNUZ", 240.0, math.nan)]
    + [("f8E5M2FNUZ", 57344.0, math.nan), ("f8E4M3B11FNUZ", 30.0, math.nan), ("f8E3M4", 15.5, math.inf)]
    + [("f4E2M1FN", 6.0, 6.0), ("f6E2M3FN", 7.5, 7.5), ("f6E3M2FN", 28.0, 28.0)]
    + [("bf16", 3.3895313892515355e38, math.inf), ("f16", 65504.0, math.inf), ("f8E8M0FNU", 2.0**127, math.nan)],
)
def test_range(name, largest, next_up):
    ty = FLOATS[name]
    assert round_float(largest, ty) == largest
    over = round_float(largest * 2.0, ty)
    assert over == next_up or (over != over and next_up != next_up)


def test_against_numpy():
    np = pytest.importorskip("numpy")
    values = np.random.default_rng(0).standard_normal(500) * 10.0 ** np.random.default_rng(1).integers(-9, 5, 500)
    for v in values.tolist():
        assert round_float(v, f16) == float(np.float16(v))
        assert round_float(v, f32) == float(np.float32(v))
        assert float_bits(v, f32) == int(np.float32(v).view(np.uint32))


def test_bf16_rounds_once():
    bf16 = FLOATS["bf16"]
    tie = 1.0 + 2.0**-8
    assert round_float(tie, bf16) == 1.0
    assert round_float(tie + 2.0**-40, bf16) == 1.0 + 2.0**-7  # by way of f32 this would be a tie, and wrong
    assert float_bits(-2.5, bf16) == 0xC020


def test_spelling():
    assert format_float(round_float(0.1, f32), f32) == "1.000000e-01"
    assert format_float(round_float(1 / 3, f32), f32) == "0.333333343"
    assert format_float(round_float(0.01, f32), f32) == "0.00999999977"
    assert format_float(round_float(0.1, f16), f16) == "9.997550e-02"
    assert format_float(round_float(1.23456789e20, f32), f32) == "1.2345679E+20"
    assert format_float(123456789.0, FLOATS["f64"]) == "0x419D6F3454000000"
    assert format_float(1234567.0, f32) == "0x4996B438"
    assert format_float(1.1, FLOATS["f80"]) == "1.10000000000000008882"
    assert format_float(1e300, FLOATS["f64"]) == "1.000000e+300"
    assert format_float(-0.0, f16) == "-0.000000e+00"
    assert format_float(math.inf, f16) == "0x7C00"
    assert format_float(math.nan, FLOATS["f8E4M3FN"]) == "0x7F"


def test_attributes_hold_the_rounded_value():
    assert FloatAttr(0.1, f32) is FloatAttr(float.fromhex("0x1.99999ap-4"), f32)
    assert FloatAttr(math.nan, f32) is FloatAttr(-math.nan, f32)
    assert FloatAttr(0.0, f32) is not FloatAttr(-0.0, f32)


@pytest.mark.parametrize("name, bits", [("f32", 0xFFC00001), ("f32", 0x7F800001), ("f64", 0x7FF0000000000001)])
def test_the_bits_of_a_nan_are_kept(name, bits):
    attr = FloatAttr(bits_float(bits, FLOATS[name]), FLOATS[name])
    assert float_bits(attr.value, FLOATS[name]) == bits and str(attr) == f"0x{bits:X} : {name}"
    assert attr is not FloatAttr(math.nan, FLOATS[name])
    assert FloatAttr(attr.value + 1.0, FLOATS[name]) is FloatAttr(math.nan, FLOATS[name])


@pytest.mark.parametrize("name", sorted(FLOATS))
def test_every_pattern_of_a_narrow_type_comes_back(name):
    ty = FLOATS[name]
    patterns = range(1 << ty.width) if ty.width <= 8 else [0, 1, 5, (1 << ty.width) - 1, 1 << (ty.width - 1), 12345]
    for bits in patterns:
        assert float_bits(bits_float(bits, ty), ty) == bits
