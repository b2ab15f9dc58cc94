"""Fallbacks for device library functions, written in the language: for CPUs and the interpreter.

`FALLBACKS` maps a name to the function that computes it, for the argument types of the library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...dialects import math as math_dialect
from ..callee import language_function
from ..constexpr import constexpr
from ..dtypes import float32, float64, int32, int64, uint32, uint64
from . import bessel, directed_rounding, special
from .builtin import builtin
from .mathematics import abs, unary_float
from .operators import add as wrapping_add
from .operators import mul as wrapping_mul
from .operators import sub as wrapping_sub
from .reductions import where

__all__ = ["LIBRARY", "FALLBACKS", "Fallback"]

LIBRARY = "tritium"  # the vector function library of the CPU backend and the interpreter

_INF = constexpr(float("inf"))
_ROOT_OF_TWO = constexpr(2.0**0.5)
cbrt = unary_float("cbrt", math_dialect.Cbrt, "The cube root")


@dataclass(frozen=True)
class Fallback:
    """A function of the language, called with arguments and `constants`; `wide`: fp32 is converted to fp64 for it."""

    fn: Any
    constants: tuple[Any, ...] = ()
    wide: bool = False


def _vector(name: str) -> Any:
    def function(*args: Any, _semantic: Any = None) -> Any:
        return _semantic.extern_elementwise(LIBRARY, "", name, list(args), args[0].dtype, True)

    function.__name__ = name
    return builtin(function)


erfinv, hypot, lgamma, tgamma = map(_vector, ("erfinv", "hypot", "lgamma", "tgamma"))


# -- bits and integers --------------------------------------------------------------------------------------------


@language_function
def _brev(x):
    """Bit reversal: adjacent bits are exchanged, then adjacent pairs, and so on."""
    y = x.to(uint32 if x.dtype == int32 else uint64, bitcast=True)
    for step in _HALVES:
        mask: constexpr = (0xFFFFFFFFFFFFFFFF // ((1 << step) + 1)) & (0xFFFFFFFF if x.dtype == int32 else -1)
        y = ((y >> step) & mask) | ((y & mask) << step)
    if x.dtype == int32:
        return y
    else:
        return (y >> 32) | (y << 32)


_HALVES = constexpr((1, 2, 4, 8, 16))


@language_function
def _byte_perm(x, y, s):
    """The bytes of y and x selected by the four lowest nibbles of s."""
    both = (y.to(int64) << 32) | (x.to(int64) & 0xFFFFFFFF)
    result = both & 0
    for i in _FOUR:
        at = ((s >> (4 * i)) & 7).to(int64) * 8
        result |= ((both >> at) & 0xFF) << (8 * i)
    return result.to(int32)


_FOUR = constexpr((0, 1, 2, 3))


@language_function
def _mul24(x, y):
    """The low half of the product of the 24 low bits."""
    if x.dtype == uint32:
        return wrapping_mul(x & 0xFFFFFF, y & 0xFFFFFF, sanitize_overflow=False)
    else:
        return wrapping_mul((x << 8) >> 8, (y << 8) >> 8, sanitize_overflow=False)


@language_function
def _sad(x, y, z):
    """|x - y| + z"""
    gap = where(x > y, wrapping_sub(x, y, sanitize_overflow=False), wrapping_sub(y, x, sanitize_overflow=False))
    return wrapping_add(gap.to(uint32), z, sanitize_overflow=False)


@language_function
def _hiloint2double(high, low):
    return ((high.to(int64) << 32) | (low.to(int64) & 0xFFFFFFFF)).to(float64, bitcast=True)


@language_function
def _double2hiint(x):
    return (x.to(int64, bitcast=True) >> 32).to(int32)


@language_function
def _double2loint(x):
    return x.to(int64, bitcast=True).to(int32)


@language_function
def _rcp64h(x):
    """1 / x, of which only the upper word is significant."""
    return ((1 / x).to(int64, bitcast=True) & -0x100000000).to(float64, bitcast=True)


# -- numbers ------------------------------------------------------------------------------------------------------


@language_function
def _nextafter(x, y):
    up = directed_rounding.neighbour(x, True)
    down = directed_rounding.neighbour(x, False)
    return where((x != x) | (y != y), x + y, where(x == y, y, where(x < y, up, down)))


@language_function
def _ilogb(x):
    """The exponent; the least integer for 0 and NaN, the greatest for infinities."""
    _, n = directed_rounding.mantissa(x)
    return where((x == 0) | (x != x), -0x80000000, where(abs(x) == _INF, 0x7FFFFFFF, n))


@language_function
def _logb(x):
    _, n = directed_rounding.mantissa(x)
    return where(x == 0, -_INF, where(x - x != 0, abs(x), n.to(float64)))


@language_function
def _ldexp(x, n):
    """x * 2^n, rounded once: intermediate steps stay in the normal range."""
    n = n.to(int64)
    n = where(n > 2200, 2200, where(n < -2200, -2200, n))
    for _ in _TWICE:
        over, under = n > 1023, n < -1022
        x = x * where(over, 2.0**1023, where(under, 2.0**-969, 1.0))
        n = where(over, n - 1023, where(under, n + 969, n))
    n = where(n > 1023, 1023, where(n < -1022, -1022, n))
    return x * directed_rounding.two_to(n)


_TWICE = constexpr((0, 1))


@language_function
def _rcp(x, mode: constexpr):
    return directed_rounding.div(where(x == x, 1.0, 1.0).to(x.dtype), x, mode)


@language_function
def _norm3d(a, b, c):
    return special.norm(a, b, c, c * 0)


@language_function
def _rnorm3d(a, b, c):
    return 1 / _norm3d(a, b, c)


@language_function
def _rnorm4d(a, b, c, d):
    return 1 / special.norm(a, b, c, d)


@language_function
def _rhypot(x, y):
    return 1 / hypot(x, y)


@language_function
def _rcbrt(x):
    return 1 / cbrt(x)


@language_function
def _remainder(x, y):
    return special.remainder(x, y, abs(x) % (2 * abs(y)))


@language_function
def _erfcinv(y):
    middle = (y >= 0.5) & (y <= 1.5)
    near = erfinv(where(middle, 1 - y, 0.0))
    tail = special.erfcinv_tail(where(middle, 0.25, where(y > 1, 2 - y, y)))
    return where(middle, near, where(y > 1, -tail, tail))


@language_function
def _normcdfinv(y):
    return -_ROOT_OF_TWO * _erfcinv(2 * y)


FALLBACKS: dict[str, Fallback] = {
    **{
        f"{name}_{mode}": Fallback(fn, (mode,))
        for name, fn in {
            "add": directed_rounding.add,
            "sub": directed_rounding.sub,
            "mul": directed_rounding.mul,
            "div": directed_rounding.div,
            "rcp": _rcp,
            "sqrt": directed_rounding.sqrt,
            "fma": directed_rounding.fma3,
            "double2float": directed_rounding.narrow,
        }.items()
        for mode in ("rd", "ru", "rz")
    },
    **{
        f"{source}2{target}_{mode}": Fallback(directed_rounding.convert, (kind, mode))
        for source in ("int", "uint", "ll", "ull")
        for target, kind in (("float", float32), ("double", float64))
        for mode in ("rd", "ru", "rz")
    },
    **{
        f"{letter}{order}": Fallback(fn, (order,), wide=True)
        for letter, fn in (("j", bessel.first), ("y", bessel.second), ("cyl_bessel_i", bessel.modified))
        for order in (0, 1)
    },
    "jn": Fallback(bessel.jn, wide=True),
    "yn": Fallback(bessel.yn, wide=True),
    "sinpi": Fallback(special.sincospi, (False,), wide=True),
    "cospi": Fallback(special.sincospi, (True,), wide=True),
    "erfcx": Fallback(special.erfcx, wide=True),
    "erfcinv": Fallback(_erfcinv, wide=True),
    "normcdf": Fallback(special.normcdf, wide=True),
    "normcdfinv": Fallback(_normcdfinv, wide=True),
    "norm3d": Fallback(_norm3d, wide=True),
    "norm4d": Fallback(special.norm, wide=True),
    "rnorm3d": Fallback(_rnorm3d, wide=True),
    "rnorm4d": Fallback(_rnorm4d, wide=True),
    "rhypot": Fallback(_rhypot, wide=True),
    "rcbrt": Fallback(_rcbrt, wide=True),
    "remainder": Fallback(_remainder, wide=True),
    "ldexp": Fallback(_ldexp, wide=True),
    "scalbn": Fallback(_ldexp, wide=True),
    "ilogb": Fallback(_ilogb, wide=True),
    "logb": Fallback(_logb, wide=True),
    "nextafter": Fallback(_nextafter),
    "erfinv": Fallback(erfinv),
    "hypot": Fallback(hypot),
    "lgamma": Fallback(lgamma),
    "tgamma": Fallback(tgamma),
    "brev": Fallback(_brev),
    "byte_perm": Fallback(_byte_perm),
    "mul24": Fallback(_mul24),
    "sad": Fallback(_sad),
    "hiloint2double": Fallback(_hiloint2double),
    "double2hiint": Fallback(_double2hiint),
    "double2loint": Fallback(_double2loint),
    "rcp64h": Fallback(_rcp64h),
}
