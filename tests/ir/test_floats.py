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
    + [("f4E2M1FN", 6.0, math.nan), ("f6E2M3FN", 7.5, math.nan), ("f6E3M2FN", 28.0, math.nan)]
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
    assert format_float(round_float(1 / 3, f32), f32) == "0.3333333432674408"
    assert format_float(1e300, FLOATS["f64"]) == "1.000000e+300"
    assert format_float(math.inf, f16) == "0x7C00"
    assert format_float(math.nan, FLOATS["f8E4M3FN"]) == "0x7F"


def test_attributes_hold_the_rounded_value():
    assert FloatAttr(0.1, f32) is FloatAttr(float.fromhex("0x1.99999ap-4"), f32)
    assert FloatAttr(math.nan, f32) is FloatAttr(-math.nan, f32)
    assert FloatAttr(0.0, f32) is not FloatAttr(-0.0, f32)
