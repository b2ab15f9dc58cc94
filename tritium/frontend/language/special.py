"""Special functions of the device library, for targets without one; all of fp64."""

from __future__ import annotations

import math as _math

from ...dialects import math as math_dialect
from ..callee import language_function
from ..constexpr import constexpr
from ..dtypes import float64, int64
from .iterators import range
from .mathematics import abs, cos, exp, fma, log, sin, sqrt, unary_float
from .reductions import where

__all__ = ["erfcinv_tail", "erfcx", "norm", "normcdf", "remainder", "sincospi"]

_PI = constexpr(_math.pi)
_TWO_BY_SQRT_PI = constexpr(2 / _math.sqrt(_math.pi))
_ROOT = constexpr(_math.sqrt(0.5))
_ROOT_LOW = constexpr(-4.833646656726457e-17)  # sqrt(1/2) - _ROOT
_INF = constexpr(float("inf"))
_NAN = constexpr(float("nan"))

erfc = unary_float("erfc", math_dialect.Erfc, "1 - erf(x)")


@language_function
def sincospi(x, cosine: constexpr):
    """sin(pi x), or cos(pi x), with exact range reduction."""
    y = where(abs(x) < 2.0**52, x, where(x - x == 0, x - x, _NAN))
    whole = abs(x) >= 2.0**52
    odd_whole = whole & (abs(x) < 2.0**53) & (where(whole & (abs(x) < 2.0**53), x, 0.0).to(int64) & 1 != 0)
    quarters = (y * 2 + where(y < 0, -0.5, 0.5)).to(int64)
    t = (y - quarters.to(float64) * 0.5) * _PI
    if cosine:
        quarters += 1
    z = where((quarters & 1) != 0, cos(t), sin(t))
    z = where((quarters & 2) != 0, -z, z)
    if cosine:
        return where(odd_whole, -z, z)
    else:
        return z


@language_function
def _exp_of_square(x):
    """e^(x^2), corrected for the rounding error of x^2."""
    square = x * x
    rest = where(square < 800, fma(x, x, -square), 0.0)
    return exp(square) * (1 + rest)


@language_function
def erfcx(x):
    """e^(x^2) erfc(x): from x = 2 on a continued fraction (Abramowitz and Stegun 7.1.14)."""
    a = abs(x)
    far = where(a > 2, a, 2.0)
    tail = far
    for i in range(150):
        tail = far + (150 - i) * 0.5 / tail
    fraction = where(a == _INF, 0.0, 0.5 * _TWO_BY_SQRT_PI / tail)
    near = _exp_of_square(where(a < 2, x, 0.0)) * erfc(where(a < 2, x, 0.0))
    mirrored = 2 * _exp_of_square(x) - fraction
    return where(x != x, x, where(x >= 2, fraction, where(x <= -2, mirrored, near)))


@language_function
def erfcinv_tail(y):
    """The x with erfc(x) = y, for 0 <= y < 1/2: Newton's iteration on log erfc(x) - log y."""
    inside = where(y > 0, y, 0.25)
    goal = log(inside)
    x = sqrt(-goal - 0.5 * log(-goal * _PI))
    for _ in range(6):
        value = erfcx(x)
        x += (log(value) - x * x - goal) * value / _TWO_BY_SQRT_PI
    return where(y == 0, _INF, where(y > 0, x, _NAN))


@language_function
def normcdf(x):
    """erfc(-x / sqrt 2) / 2, corrected for the rounding error of the division."""
    a = where(x < -39, -39.0, where(x > 39, 39.0, x))
    high = -a * _ROOT
    low = fma(-a, _ROOT, -high) - a * _ROOT_LOW
    return 0.5 * (erfc(high) - _TWO_BY_SQRT_PI * exp(-high * high) * low)


@language_function
def norm(a, b, c, d):
    """The root of the sum of squares, without overflow."""
    a, b, c, d = abs(a), abs(b), abs(c), abs(d)
    m = where(a > b, a, b)
    m = where(c > m, c, m)
    m = where(d > m, d, m)
    inside = (m > 0) & (m < _INF)
    # scaling by a power of two is exact
    scale = where(m > 1.0, 2.0**-600, 2.0**500)
    scale = where(inside & (m < 2.0**450) & (m > 2.0**-450), 1.0, scale)
    a, b, c, d = a * scale, b * scale, c * scale, d * scale
    root = sqrt(fma(a, a, b * b) + fma(c, c, d * d)) / scale
    infinite = (a == _INF) | (b == _INF) | (c == _INF) | (d == _INF)
    return where(infinite, _INF, root)


@language_function
def remainder(x, y, rest):
    """x - n y, n the integer nearest to x / y (ties to even), from `rest` = |x| modulo 2 |y|."""
    b = abs(y)
    over = rest > b - rest
    r = where(over, rest - b, rest)
    r = where(over & (r >= b - r), r - b, r)
    r = where(abs(y) == _INF, abs(x), r)
    negative = x.to(int64, bitcast=True) < 0
    return where((x - x != 0) | (y == 0) | (y != y), _NAN, where(negative, -r, r))
