"""log, log2, log10, log1p.

x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); log_c(x) = k log_c(2) + log(1 + f) log_c(e). The large parts of
both terms are kept exactly, as a sum of two floats; only the small rest is rounded before the last addition.

f32, and doubles inside of f32 functions: log(1 + f) = f - f^2/2 + f^3 P(f). f64: with s = f / (2 + f), log(1 + f) =
f - s (f - R(s^2)), R = s^2 P(s^2), which comes from 2 atanh(s) = 2 s + s R and 2 s = f - s f (one division instead
of a polynomial of degree twenty).

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `log_*`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .builder import F32, WIDE, FunctionBuilder, Value, define
from .pairs import two_sum

__all__ = ["log", "log1p", "log2", "log10", "log_pair", "reduced", "reduced_normal"]

# Relative errors of log(1 + f): 2^-30.3, 2^-59.5, 2^-35.5.
LOG = {
    "f32": (
        0.333333135,
        -0.250000089,
        0.200020716,
        -0.166679874,
        0.14220354,
        -0.124062814,
        0.118836798,
        -0.116698176,
        0.0674853027,
    ),
    "f64": (
        0.6666666666666734,
        0.39999999999417052,
        0.28571428741924243,
        0.22222198615167144,
        0.18183562362822348,
        0.15314096835198379,
        0.14795512855897408,
    ),
    "wide": (
        0.33333333892327105,
        -0.24999997075429786,
        0.1999991126352256,
        -0.16666855130982089,
        0.14290174063698274,
        -0.12498286166091024,
        0.11014796356551174,
        -0.099245408339905014,
        0.099884537562105066,
        -0.098631218474874938,
        0.053868919350414587,
    ),
}


class Base(NamedTuple):
    """log_c(2) in two parts, k times the first exact; log_c(e) in two parts, (1, 0) for the natural logarithm."""

    two: tuple[float, float]
    e: tuple[float, float]


NATURAL = {
    "f32": Base((0.693145751953125, 1.42860682e-06), (1.0, 0.0)),
    "f64": Base((0.6931471803691238, 1.9082149292705877e-10), (1.0, 0.0)),
}
NATURAL["wide"] = NATURAL["f64"]
BINARY = {
    "f32": Base((1.0, 0.0), (1.4426950216293335, 1.925963033500011e-08)),
    "f64": Base((1.0, 0.0), (1.4426950408889634, 2.0355273740931033e-17)),
}
BINARY["wide"] = BINARY["f64"]
DECIMAL = {
    "f32": Base((0.301025390625, 4.60503907e-06), (0.4342944920063019, -1.0103049952192578e-08)),
    "f64": Base((0.3010299955494702, 1.1451100898021838e-10), (0.4342944819032518, 1.098319650216765e-17)),
}
DECIMAL["wide"] = DECIMAL["f64"]


def reduced_normal(b: FunctionBuilder, x: Value) -> tuple[Value, Value]:
    """(k as a float, m): x = 2^k m with sqrt(1/2) <= m < sqrt(2), for normal x > 0; nonsense for others."""
    form = b.format
    root = form.bits_of(math.sqrt(0.5))
    if form is F32:
        offset = x.bits() - root
        k = (offset >> form.mantissa).cast("sitofp", form.element)
    else:
        # 64-bit integers have neither an arithmetic shift nor a conversion below AVX-512: k + bias becomes the last
        # bits of 2^52 + k + bias.
        offset = x.bits() - (root - (form.bias << form.mantissa))
        k = (offset.logical_shift_right(form.mantissa) | form.bits_of(2.0**52)).as_float() - (2.0**52 + form.bias)
    m = ((offset & ((1 << form.mantissa) - 1)) + root).as_float()
    return k, m


def reduced(b: FunctionBuilder, x: Value) -> tuple[Value, Value]:
    """The same for subnormal x too."""
    if b.format is WIDE:  # no f32 is subnormal as a double
        return reduced_normal(b, x)
    subnormal = x < b.format.smallest_normal
    k, m = reduced_normal(b, b.select(subnormal, x * 2.0**b.format.mantissa, x))
    return k - b.select(subnormal, b.constant(float(b.format.mantissa)), 0.0), m


def log1p_tail(b: FunctionBuilder, f: Value) -> Value:
    """log(1 + f) - f, for f of one reduced argument."""
    table = LOG[b.format.name]
    if b.format is WIDE:
        square = f * f
        return square * b.fma(f, b.split_polynomial(f, table), -0.5)
    if b.format is F32:
        square = f * f
        lost = b.fma(f, f, -square)
        return b.fma(square, b.fma(f, b.polynomial(f, table), -0.5), lost * -0.5)
    s = f / (f + 2.0)
    z = s * s
    return s * (z * b.split_polynomial(z, table) - f)


def combine(b: FunctionBuilder, k: Value, f: Value, f_low: Value | float, base: Base) -> Value:
    """k log_c(2) + log(1 + f + f_low) log_c(e); the correction f_low is at most an ulp of 1."""
    tail = log1p_tail(b, f)
    if b.format is WIDE:
        return b.fma(k, base.two[0] + base.two[1], (f + tail) * base.e[0])
    if isinstance(f_low, Value):
        tail = tail + f_low
    big, small = f, tail
    if base.e != (1.0, 0.0):
        high, low = base.e
        big = f * high
        small = b.fma(tail, high, b.fma(f, low, b.fma(f, high, -big)))
    whole = k if base.two[0] == 1.0 else k * base.two[0]
    # Fast two-sum: |whole| >= |big| or whole is 0.
    total = whole + big
    small = small + (big - (total - whole))
    if base.two[1]:
        small = b.fma(k, base.two[1], small)
    return total + small


def _any_argument(b: FunctionBuilder, x: Value, base: Base) -> Value:
    """The logarithm of whatever x: log 0 = -inf, log inf = inf, log of less = NaN, log NaN = NaN."""
    k, m = reduced(b, x)
    result = combine(b, k, m - 1.0, 0.0, base)
    result = b.select(x.equals(0.0), -math.inf, result)
    result = b.select(x.equals(math.inf), x, result)
    return b.select(x.compare("ult", 0.0), math.nan, result)


def _logarithm(b: FunctionBuilder, x: Value, name: str, base: Base) -> Value:
    """Straight for normal x > 0; a function of its own when any lane is something else."""
    form, x = b.format, b.freeze(x)
    k, m = reduced_normal(b, x)
    usual = combine(b, k, m - 1.0, 0.0, base)
    least = form.bits_of(form.smallest_normal)
    other = (x.bits() - least).compare("uge", form.bits_of(math.inf) - least)
    rare = define(name + ".any", form, b.lanes, 1, lambda b, x: _any_argument(b, x, base), inline=False)
    return b.rarely(other, usual, lambda: b.select(other, b.call(rare, x), usual))


def log(b: FunctionBuilder, x: Value) -> Value:
    """Natural logarithm."""
    return _logarithm(b, x, "log", NATURAL[b.format.name])


def log2(b: FunctionBuilder, x: Value) -> Value:
    """Binary logarithm; exact for powers of two."""
    return _logarithm(b, x, "log2", BINARY[b.format.name])


def log10(b: FunctionBuilder, x: Value) -> Value:
    """Decimal logarithm."""
    return _logarithm(b, x, "log10", DECIMAL[b.format.name])


def log_pair(b: FunctionBuilder, high: Value, low: Value | None, doublings: Value | None = None) -> Value:
    """log((high + low) 2^doublings) for finite high > 0, |low| at most a few ulp of it; accurate near 1."""
    k, m = reduced(b, high)
    if doublings is not None:
        k = k + doublings
    return combine(b, k, m - 1.0, 0.0 if low is None else low / high, NATURAL[b.format.name])


def log1p(b: FunctionBuilder, x: Value) -> Value:
    """log(1 + x): u = 1 + x is rounded, and what the rounding lost, divided by u, is added to the logarithm."""
    u, lost = two_sum(x, b.constant(1.0))
    result = log_pair(b, u, lost)
    result = b.select(b.abs(x) < 2.0 ** -(b.format.mantissa + 1), x, result)
    return b.select(x.compare("ult", -1.0), math.nan, _ends(b, x, result))


def _ends(b: FunctionBuilder, x: Value, result: Value) -> Value:
    result = b.select(x.equals(-1.0), -math.inf, result)
    return b.select(x.compare("ueq", math.inf), x, result)
