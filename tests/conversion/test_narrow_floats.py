"""8-bit floats, bf16 and rounding towards zero against exact arithmetic, over all patterns or a dense sample."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.kernels import Kernel, poisoned
from tests.conversion.test_tt_to_ttc import elementwise

FORMATS = {  # mantissa bits, bias, largest finite pattern, NaN patterns, infinity pattern
    "f8E5M2": (2, 15, 0x7B, {0x7D, 0x7E, 0x7F}, 0x7C),
    "f8E4M3FN": (3, 7, 0x7E, {0x7F}, None),
    "f8E5M2FNUZ": (2, 16, 0x7F, set(), None),
    "f8E4M3FNUZ": (3, 8, 0x7F, set(), None),
    "f8E4M3B11FNUZ": (3, 15, 0x7E, set(), None),
}


def value_of(pattern: int, name: str) -> float:
    """What an 8-bit pattern stands for, from the definition of the format."""
    mantissa, bias, _, nans, infinity = FORMATS[name]
    if name.endswith("M2FNUZ") or name == "f8E4M3FNUZ":
        if pattern == 0x80:
            return float("nan")
    sign, magnitude = -1.0 if pattern & 0x80 else 1.0, pattern & 0x7F
    if magnitude in nans:
        return float("nan")
    if magnitude == infinity:
        return sign * float("inf")
    exponent, fraction = magnitude >> mantissa, magnitude & ((1 << mantissa) - 1)
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias)


def cast(source: str, target: str, rounding: str = "") -> str:
    """A kernel that converts n elements."""
    text = elementwise("OP", source, 256, 1).replace("tt.load %yp, %mask", "tt.load %yp, %mask")
    op = f"tt.fp_to_fp %a{rounding} : tensor<256x{source}> -> tensor<256x{target}>"
    text = text.replace(f"OP %a : tensor<256x{source}>", op)
    head, store = text.split("%os = ")
    head = head.replace(f"%o: !tt.ptr<{source}>", f"%o: !tt.ptr<{target}>")
    return head + "%os = " + store.replace(f"!tt.ptr<{source}>", f"!tt.ptr<{target}>")


@pytest.mark.parametrize("name", FORMATS)
def test_every_pattern_widens_exactly(name: str) -> None:
    x = np.arange(256, dtype=np.uint8)
    out = poisoned(256, np.float32)
    Kernel(cast(name, "f32"))((1,), x, x, out, 256)
    if name == "f8E4M3B11FNUZ":  # patterns beyond the largest are not made by any conversion
        keep = (x & 0x7F) <= 0x7E
        x, out = x[keep], out[keep]
    np.testing.assert_array_equal(out, [value_of(int(p), name) for p in x])


@pytest.mark.parametrize("name", FORMATS)
def test_narrowing_rounds_once_to_nearest_even(name: str) -> None:
    largest = FORMATS[name][2]
    table = np.array([value_of(p, name) for p in range(largest + 1)])
    middles = ((table[1:] + table[:-1]) / 2).astype(np.float32)
    near = [np.nextafter(middles, np.float32(side)) for side in (-np.inf, np.inf)]
    rng = np.random.default_rng(4)
    spread = np.exp2(rng.uniform(-30, 20, 4000)).astype(np.float32)
    x = np.concatenate([table.astype(np.float32), middles, *near, spread, [0, np.inf, 1e30]]).astype(np.float32)
    x = np.concatenate([x, -x])
    out = poisoned(len(x), np.uint8)
    Kernel(cast("f32", name, ", rounding = rtne"))((-(-len(x) // 256),), x, x, out, len(x))
    size = np.abs(x.astype(np.float64))
    above = np.clip(np.searchsorted(table, size), 1, largest)
    low, high = table[above - 1], table[above]
    up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
    want = np.where(size >= table[-1], largest, np.where(up, above, above - 1))
    sign = np.where(np.signbit(x), 0x80, 0)
    if "FNUZ" in name and name != "f8E4M3B11FNUZ":
        sign = np.where(want == 0, 0, sign)
    np.testing.assert_array_equal(out, want | sign)


@pytest.mark.parametrize("name", ["f8E5M2", "f8E4M3FN"])
def test_nan_stays_nan(name: str) -> None:
    x = np.full(256, np.nan, np.float32)
    out = poisoned(256, np.uint8)
    Kernel(cast("f32", name, ", rounding = rtne"))((1,), x, x, out, 256)
    assert np.isnan([value_of(int(p), name) for p in out]).all()


def bfloat_bits(x: np.ndarray) -> np.ndarray:
    """f32 rounded to bf16, to nearest even, denormals kept."""
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def test_bfloat_rounds_to_nearest_even_and_keeps_denormals() -> None:
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**32, 100_000, dtype=np.uint64).astype(np.uint32)
    bits[::7] &= 0x807FFFFF  # denormals
    x = bits.view(np.float32)
    x = x[~np.isnan(x)]
    out = poisoned(len(x), np.uint16)
    Kernel(cast("f32", "bf16", ", rounding = rtne"))((-(-len(x) // 256),), x, x, out, len(x))
    np.testing.assert_array_equal(out, bfloat_bits(x))


@pytest.mark.parametrize("target", ["f16", "bf16"])
def test_rounding_towards_zero(target: str) -> None:
    rng = np.random.default_rng(6)
    x = (rng.standard_normal(5000) * np.exp2(rng.uniform(-30, 18, 5000))).astype(np.float32)
    out = poisoned(5000, np.uint16)
    Kernel(cast("f32", target, ", rounding = rtz"))((20,), x, x, out, 5000)
    if target == "bf16":
        np.testing.assert_array_equal(out, (x.view(np.uint32) >> 16).astype(np.uint16))
        return
    with np.errstate(over="ignore"):
        near = x.astype(np.float16)
    beyond = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
    np.testing.assert_array_equal(out, near.view(np.uint16) - beyond)


@pytest.mark.parametrize("name", [name for name in FORMATS if "B11" not in name])
def test_narrowing_towards_zero(name: str) -> None:
    largest = FORMATS[name][2]
    values = np.array([value_of(p, name) for p in range(largest + 1)])
    rng = np.random.default_rng(7)
    x = (rng.standard_normal(5000) * np.exp2(rng.uniform(-22, 20, 5000))).astype(np.float32)
    out = poisoned(5000, np.uint8)
    Kernel(cast("f32", name, ", rounding = rtz"))((20,), x, x, out, 5000)
    expected = np.searchsorted(values, np.abs(x), side="right") - 1
    negative = x < 0 if "FNUZ" not in name else (x < 0) & (expected > 0)  # these have no -0
    np.testing.assert_array_equal(out, expected | (negative << 7))


def test_f64_is_rounded_once() -> None:
    """Just beside the middle of two e4m3 numbers, by less than an f32 can say."""
    x = np.array([1.0625 + 2.0**-40, 1.0625 - 2.0**-40, 1.1875 - 2.0**-40, -1.0625 - 2.0**-40] * 64)
    out = poisoned(256, np.uint8)
    Kernel(cast("f64", "f8E4M3FN", ", rounding = rtne"))((1,), x, x, out, 256)
    assert [value_of(int(p), "f8E4M3FN") for p in out[:4]] == [1.125, 1.0, 1.125, -1.125]
