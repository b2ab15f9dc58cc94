"""Directed rounding (towards zero, down, up), for targets whose arithmetic only rounds to nearest.

Each function computes the nearest result r and a value e with the sign of (exact result - r), without rounding error:
by two-sum for sums (Knuth, TAOCP 4.2.2, theorem B), by fma for products, quotients and roots. If r is on the wrong side
of the exact result, its neighbour is returned. fp32 is computed in fp64, where its products are exact. Operations whose
rounding error is computed (`add_rn`, `sub_rn`, `mul_rn`) are not contracted to FMAs.
"""

from __future__ import annotations

from typing import Any

from ...dialects import arith
from ..callee import language_function
from ..constexpr import constexpr, unwrap
from ..dtypes import float32, float64, int32, int64, uint32
from ..tensor import tensor
from .builtin import builtin
from .mathematics import abs, fma
from .mathematics import sqrt as sqrt_rn  # correctly rounded on CPUs and in the interpreter
from .reductions import where

__all__ = [
    "add",
    "bits_of",
    "convert",
    "div",
    "fma3",
    "mantissa",
    "mul",
    "narrow",
    "neighbour",
    "sqrt",
    "sub",
    "two_to",
]

_INF = constexpr(float("inf"))


@builtin
def _rounded(operation: constexpr, x: tensor, y: tensor, _semantic: Any = None) -> tensor:
    """x `operation` y, rounded on its own also where additions and multiplications may be contracted."""
    op = getattr(arith, unwrap(operation))
    x, y = _semantic.binary_operands(unwrap(x), unwrap(y))
    made = op(x.handle, y.handle, roundingmode=arith.RoundingMode.to_nearest_even)
    return tensor(_semantic.builder.add(made), x.type)


@language_function
def add_rn(x, y):
    """x + y, never contracted to an FMA."""
    return _rounded("AddF", x, y)


@language_function
def sub_rn(x, y):
    """x - y, never contracted to an FMA."""
    return _rounded("SubF", x, y)


@language_function
def mul_rn(x, y):
    """x * y, never contracted to an FMA."""
    return _rounded("MulF", x, y)


@language_function
def bits_of(x):
    """The bits of a float as a signed integer."""
    if x.dtype == float32:
        return x.to(int32, bitcast=True)
    else:
        return x.to(int64, bitcast=True)


@language_function
def two_to(n):
    """2^n in fp64, for n from -1022 to 1023."""
    return ((n.to(int64) + 1023) << 52).to(float64, bitcast=True)


@language_function
def mantissa(x):
    """(m, n) with x = m * 2^n and 1 <= |m| < 2, of finite fp64; (0, n) for 0."""
    small = abs(x) < 2.0**-1000
    y = where(small, x * 2.0**100, x)
    n = ((y.to(int64, bitcast=True) >> 52) & 0x7FF) - 1023
    n = where(x == 0, 0, n)
    half = n // 2
    return y * two_to(-half) * two_to(half - n), where(small, n - 100, n)


@language_function
def neighbour(x, up: constexpr):
    """The next value above x (or below it); the last infinity and NaN are unchanged."""
    bits = bits_of(x)
    least = ((bits & 0) | 1).to(x.dtype, bitcast=True)
    if up:
        moved = where(x > 0, bits + 1, bits - 1).to(x.dtype, bitcast=True)
        return where((x != x) | (x == _INF), x, where(x == 0, least, moved))
    else:
        moved = where(x > 0, bits - 1, bits + 1).to(x.dtype, bitcast=True)
        return where((x != x) | (x == -_INF), x, where(x == 0, -least, moved))


@language_function
def _directed(r, e, finite, mode: constexpr):
    """r moved to the side of `mode`: "rd" down, "ru" up, "rz" towards zero; of `finite` operands."""
    # if the nearest result overflowed, the exact one is closer to zero
    below = finite & where(abs(r) == _INF, r > 0, e < 0)
    above = finite & where(abs(r) == _INF, r < 0, e > 0)
    if mode == "rd":
        return where(below, neighbour(r, False), r)
    elif mode == "ru":
        return where(above, neighbour(r, True), r)
    else:
        return where((r > 0) & below, neighbour(r, False), where((r < 0) & above, neighbour(r, True), r))


@language_function
def _error_of_sum(s, a, b):
    """a + b - s, exactly, for s = a + b rounded to the nearest."""
    part = sub_rn(s, a)
    return add_rn(sub_rn(a, sub_rn(s, part)), sub_rn(b, part))


@language_function
def _finite(x):
    return abs(x) < _INF


@language_function
def _side(wide, rest, r):
    """The sign of (wide + rest - r), for a rest smaller than any nonzero |wide - r|."""
    gap = wide - r.to(float64)
    return where(gap == 0, rest, gap)


@language_function
def _down_to_zero(r, a, b, mode: constexpr):
    """The sum of opposite numbers a and b is -0 if rounded down."""
    if mode == "rd":
        opposite = (a == -b) & ((bits_of(a) < 0) != (bits_of(b) < 0))
        return where(opposite & (r == 0), -0.0, r)
    else:
        return r


@language_function
def add(a, b, mode: constexpr):
    """a + b"""
    finite = _finite(a) & _finite(b)
    if a.dtype == float32:
        wide = add_rn(a.to(float64), b.to(float64))
        r = wide.to(float32)
        e = _side(wide, _error_of_sum(wide, a.to(float64), b.to(float64)), r)
    else:
        r = add_rn(a, b)
        e = _error_of_sum(r, a, b)
    return _down_to_zero(_directed(r, e, finite, mode), a, b, mode)


@language_function
def sub(a, b, mode: constexpr):
    """a - b"""
    return add(a, -b, mode)


@language_function
def mul(a, b, mode: constexpr):
    """a * b"""
    finite = _finite(a) & _finite(b)
    if a.dtype == float32:
        wide = a.to(float64) * b.to(float64)
        r = wide.to(float32)
        return _directed(r, _side(wide, 0.0, r), finite, mode)
    else:
        r = mul_rn(a, b)
        p, n = mantissa(a)
        q, m = mantissa(b)
        s, k = mantissa(r)
        # r is within a factor of 4 of the product, unless it is 0
        shift = where(r == 0, 0, k - n - m)
        shift = where(shift > 1000, 1000, where(shift < -1000, -1000, shift))
        return _directed(r, fma(p, q, -s * two_to(shift)), finite, mode)


@language_function
def div(a, b, mode: constexpr):
    """a / b"""
    finite = _finite(a) & _finite(b) & (b != 0)
    if a.dtype == float32:
        r = (a.to(float64) / b.to(float64)).to(float32)
        rest = fma(-r.to(float64), b.to(float64), a.to(float64))
    else:
        r = a / b
        p, n = mantissa(a)
        q, m = mantissa(b)
        s, k = mantissa(r)
        shift = where(r == 0, 0, k - n + m)
        shift = where(shift > 1000, 1000, where(shift < -1000, -1000, shift))
        rest = fma(-s * two_to(shift), q, p)
    return _directed(r, where(b < 0, -rest, rest), finite, mode)


@language_function
def sqrt(x, mode: constexpr):
    """The square root."""
    if x.dtype == float32:
        wide = sqrt_rn(x.to(float64))
        r = wide.to(float32)
        e = fma(-r.to(float64), r.to(float64), x.to(float64))
    else:
        r = sqrt_rn(x)
        small = x < 2.0**-600  # its remainder would underflow
        s = where(small, r * 2.0**200, r)
        e = fma(-s, s, where(small, x * 2.0**400, x))
    return _directed(r, e, _finite(x), mode)


@language_function
def fma3(a, b, c, mode: constexpr):
    """a * b + c. Of fp64, the error of the fma is found as Boldo and Muller do (2005), who exclude underflow."""
    finite = _finite(a) & _finite(b) & _finite(c)
    if a.dtype == float32:
        product, third = a.to(float64) * b.to(float64), c.to(float64)
        wide = product + third
        r = wide.to(float32)
        e = _side(wide, _error_of_sum(wide, product, third), r)
    else:
        product, third = mul_rn(a, b), c
        r = fma(a, b, c)
        low = fma(a, b, -product)
        part = add_rn(c, low)
        part_low = _error_of_sum(part, c, low)
        whole = add_rn(product, part)
        e = (sub_rn(whole, r) + _error_of_sum(whole, product, part)) + part_low
    return _down_to_zero(_directed(r, e, finite, mode), product, third, mode)


@language_function
def narrow(x, mode: constexpr):
    """fp64 as fp32."""
    r = x.to(float32)
    return _directed(r, x - r.to(float64), _finite(x), mode)


@language_function
def convert(x, target: constexpr, mode: constexpr):
    """An integer as a float."""
    r = x.to(target)
    if x.dtype == int32 or x.dtype == uint32:  # noqa: PLR1714  (the language has no `in`)
        e = x.to(float64) - r.to(float64)
    else:
        limit: constexpr = 2.0**63 if x.dtype == int64 else 2.0**64
        full = r >= limit  # rounded up to a value outside the integer type
        back = where(full, 0.0, r).to(x.dtype)
        e = where(full | (back > x), -1.0, where(back < x, 1.0, 0.0))
    return _directed(r, e, r == r, mode)
