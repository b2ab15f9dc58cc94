"""tl.fma rounds once: against exact fractions, interpreted and compiled for the CPU."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs

SIZE = 1024


@tritium.jit
def multiply_add(x, y, z, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.fma(tl.load(x + at), tl.load(y + at), tl.load(z + at)))


@tritium.jit
def multiply_add_scalar(x, y, z, out):
    tl.store(out, tl.fma(tl.load(x), tl.load(y), tl.load(z)))


def nearest(exact: Fraction, dtype: str) -> float:
    """The number of a type that is nearest, of two the even one; what is none of the type's infinity."""
    info = np.finfo(dtype)
    if exact == 0:
        return 0.0
    size, exponent = abs(exact), 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    unit = Fraction(2) ** (max(exponent, int(info.minexp)) - info.nmant)
    rounded = round(size / unit) * unit  # Python rounds halves to even
    value = float("inf") if rounded > Fraction(float(info.max)) else float(rounded)
    return value if exact > 0 else -value


def nearest_bf16(exact: Fraction) -> float:
    """A number of 8 bits, far from the ends of bf16."""
    exponent = 0 if exact == 0 else int(np.frexp(float(exact))[1])
    unit = Fraction(2) ** (exponent - 8)
    return float(round(exact / unit) * unit)


def numbers(dtype: str, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Sums at, and hardly beside, the middle of two numbers; and any."""
    info = np.finfo(dtype)
    x = (rng.standard_normal(SIZE) * np.exp2(rng.integers(-8, 8, SIZE))).astype(dtype)
    y = np.where(rng.random(SIZE) < 0.5, rng.standard_normal(SIZE), 1 + info.eps).astype(dtype)
    product = x.astype(np.float64) * y
    z = np.where(rng.random(SIZE) < 0.3, -product, product * np.exp2(rng.integers(-60, 60, SIZE)))
    tiny = np.full(SIZE, info.smallest_subnormal) * rng.choice([-1, 1, 3], SIZE)
    z = np.where(rng.random(SIZE) < 0.3, tiny, z)
    half = 1 + np.arange(SIZE) % 8 * info.eps
    x, y = np.where(rng.random(SIZE) < 0.4, half, x), np.where(rng.random(SIZE) < 0.3, 1.5, y)
    with np.errstate(over="ignore"):
        return x.astype(dtype), y.astype(dtype), z.astype(dtype)


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_one_rounding(dtype, target, monkeypatch):
    monkeypatch.setattr(knobs.runtime, "interpret", target == "interpreter")
    x, y, z = numbers(dtype, np.random.default_rng(3))
    finite = np.isfinite(z)
    out = np.full(SIZE, 77, dtype)
    multiply_add[(1,)](x, y, z, out, SIZE)
    exact = [
        Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in zip(x, y, np.where(finite, z, 0))
    ]
    wanted = np.array([nearest(e, dtype) for e in exact])
    different = np.flatnonzero(finite & (out != wanted))
    assert not len(different), [(x[i], y[i], z[i], out[i], wanted[i]) for i in different[:5]]


@tritium.jit
def multiply_add_bf16(x, y, z, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b, c = tl.load(x + at).to(tl.bfloat16), tl.load(y + at).to(tl.bfloat16), tl.load(z + at).to(tl.bfloat16)
    tl.store(out + at, tl.fma(a, b, c).to(tl.float32))


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_terms_of_bf16_may_be_far_apart(target, monkeypatch):
    """Products in the middle of two bf16, and something on either side, however small."""
    monkeypatch.setattr(knobs.runtime, "interpret", target == "interpreter")
    rng = np.random.default_rng(6)
    x, y = (
        np.resize(np.array([3.25, -3.25, 1.5, 129.0], np.float32), 64),
        np.resize(np.array([-124.0, 85.0, 171.0], np.float32), 64),
    )
    z = (rng.choice([-1.0, 1.0, 0.0], 64) * np.exp2(rng.integers(-120, -20, 64))).astype(np.float32)
    out = np.full(64, 77, np.float32)
    multiply_add_bf16[(1,)](x, y, z, out, 64)
    exact = [Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in zip(x, y, z)]
    assert out.tolist() == [nearest_bf16(value) for value in exact]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_infinities_zeros_and_scalars(dtype, monkeypatch):
    inf, nan, big = np.inf, np.nan, float(np.finfo(dtype).max)
    rows = [(inf, 1, 1), (inf, 0, 1), (inf, 1, -inf), (big, 2, -inf), (big, 2, -big), (big, 2, big), (nan, 1, 1), (0, -1, 0),
            (0, -1, -0.0), (1, 1, -1), (-0.0, 1, 0), (big, -2, inf), (1, 2, 3)]  # fmt: skip
    for row in rows:
        x, y, z = (np.array([v], dtype) for v in row)
        found = []
        for interpret in (True, False):
            monkeypatch.setattr(knobs.runtime, "interpret", interpret)
            out = np.full(1, 77, dtype)
            multiply_add_scalar[(1,)](x, y, z, out)
            found.append(out)
        assert (
            np.array_equal(*found, equal_nan=True) and np.signbit(found[0]) == np.signbit(found[1]) or row[0] != row[0]
        ), row
