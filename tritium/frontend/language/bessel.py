"""Bessel functions of fp64, for targets without a device library.

From Miller's backward recurrence and Neumann's series (Abramowitz and Stegun 9.1.46, 9.1.88, 9.1.89), and for large
arguments from Hankel's expansion (9.2.5 - 9.2.10), whose terms fall below 2^-53 where x >= 25. Modified ones are power
series (9.6.10), and 9.7.1 where x >= 30. Near their zeros the error is 2^-52 of the functions' magnitude around them.
"""

from __future__ import annotations

import math as _math

from ..callee import language_function
from ..constexpr import constexpr
from ..dtypes import float64, int32
from .creation import to_tensor
from .iterators import range
from .mathematics import abs, cos, exp, log, sin, sqrt
from .reductions import where
from .standard import max as block_max

__all__ = ["first", "jn", "modified", "second", "yn"]

_PI = constexpr(_math.pi)
_GAMMA = constexpr(0.57721566490153286)  # Euler's constant
_INF = constexpr(float("inf"))
_NAN = constexpr(float("nan"))
_STEPS = constexpr(40)  # two orders each: J_80(25) is 1e-25


@language_function
def _near(x):
    """J0, J1, Y0, Y1 where 1e-5 <= x <= 25."""
    high, low = x * 0, x * 0 + 1e-280  # orders 2 k + 1 and 2 k, up to a common factor
    total, even, odd = x * 0, x * 0, x * 0
    for i in range(_STEPS):
        k = (_STEPS - i).to(float64)
        sign = 1.0 - 2.0 * ((_STEPS - i) & 1).to(float64)
        total += 2 * low
        even += sign / k * low
        odd += sign * (2 * k + 1) / (k * (k + 1)) * high
        before = 4 * k / x * low - high
        low = (4 * k - 2) / x * before - low
        high = before
    total += low
    j0, j1 = low / total, high / total
    logarithm = log(x * 0.5) + _GAMMA
    y0 = (2 / _PI) * (logarithm * j0 - 2 * (even / total))
    y1 = (2 / _PI) * ((logarithm - 1) * j1 - j0 / x - odd / total)
    return j0, j1, y0, y1


@language_function
def _far(x, order: constexpr):
    """J and Y of order 0 or 1 where x >= 25."""
    p, q, term = x * 0, x * 0, x * 0 + 1
    for k in range(32):
        n = k.to(float64)
        sign = 1.0 - (k & 2).to(float64)
        even = 1.0 - (k & 1).to(float64)
        p += even * sign * term
        q += (1.0 - even) * sign * term
        term *= (4.0 * order - (2 * n + 1) * (2 * n + 1)) / ((n + 1) * 8 * x)
    c, s = cos(x), sin(x)
    size = 1 / sqrt(_PI * x)
    if order == 0:
        cosine, sine = (c + s) * size, (s - c) * size
    else:
        cosine, sine = (s - c) * size, -(s + c) * size
    return p * cosine - q * sine, p * sine + q * cosine


@language_function
def _both(x, order: constexpr):
    """J and Y of order 0 or 1, of x > 0."""
    middle = where(x < 1e-5, 1e-5, where(x < 25, x, 25.0))
    j0, j1, y0, y1 = _near(middle)
    large = where((x > 25) & (x < _INF), x, 25.0)
    far_j, far_y = _far(large, order)
    square = x * x * 0.25
    logarithm = log(x * 0.5) + _GAMMA
    if order == 0:
        j, y = where(x < 1e-5, 1 - square, j0), where(x < 1e-5, (2 / _PI) * (logarithm * (1 - square) + square), y0)
    else:
        small = (2 / _PI) * (0.5 * x * (logarithm - 0.5) - 1 / x)
        j, y = where(x < 1e-5, x * 0.5 * (1 - 0.5 * square), j1), where(x < 1e-5, small, y1)
    j, y = where(x > 25, far_j, j), where(x > 25, far_y, y)
    return where(x == _INF, 0.0, j), where(x == _INF, 0.0, y)


@language_function
def first(x, order: constexpr):
    """J0 or J1."""
    j, _ = _both(abs(x), order)
    j = where(x != x, x, j)
    return where(x < 0, -j, j) if order == 1 else j


@language_function
def second(x, order: constexpr):
    """Y0 or Y1; NaN below 0, -inf at 0."""
    _, y = _both(where(x > 0, x, 1.0), order)
    return where(x > 0, y, where(x == 0, -_INF, _NAN))


@language_function
def _largest(n):
    if len(n.shape) == 0:
        return n
    else:
        return block_max(n)


@language_function
def jn(n, x):
    """J_n: forward recurrence from J0 and J1 up to order |x|, from there on ratios by backward recurrence."""
    n = to_tensor(n).to(int32) + where(x == x, 0, 0)
    a = abs(x)
    turn = where(a < 2.0**30, a, 2.0**30).to(int32)
    stop = where(n < turn, n, turn)
    before, now = first(a, 0), first(a, 1)
    result = where(stop == 0, before, now)
    top = _largest(n)
    for k in range(1, top):
        before, now = now, 2.0 * k / a * now - before
        result = where(stop == k + 1, now, result)
    start = top + 60 + sqrt(160.0 * where(top > 0, top, 0).to(float64)).to(int32)
    ratio = a * 0
    for i in range(start):
        k = start - i
        ratio = where(k > turn, a / (2.0 * k - a * ratio), 0.0)
        result *= where((k > turn) & (k <= n), ratio, 1.0)
    result = where((x < 0) & ((n & 1) != 0), -result, result)
    result = where(a == _INF, 0.0, where((a == 0) & (n > 0), 0.0, result))
    return where((n < 0) | (x != x), _NAN, result)


@language_function
def yn(n, x):
    """Y_n by forward recurrence from Y0 and Y1."""
    n = to_tensor(n).to(int32) + where(x == x, 0, 0)
    before, now = second(x, 0), second(x, 1)
    result = where(n == 0, before, now)
    for k in range(1, _largest(n)):
        before, now = now, where(now == -_INF, now, 2.0 * k / x * now - before)
        result = where(n == k + 1, now, result)
    return where((n < 0) | (x != x), _NAN, where(x == _INF, 0.0, result))


@language_function
def modified(x, order: constexpr):
    """I0 or I1."""
    a = abs(x)
    near = where(a < 30, a, 30.0)
    square = near * near * 0.25
    term = square * 0 + 1 if order == 0 else near * 0.5
    total = term
    for i in range(1, 90):
        k = i.to(float64)
        term *= square / (k * (k + order))
        total += term
    far = where(a > 30, a, 30.0)
    step = far * 0 + 1
    series = step
    for i in range(30):
        k = i.to(float64)
        step *= -(4.0 * order - (2 * k + 1) * (2 * k + 1)) / ((k + 1) * 8 * far)
        series += step
    half = exp(where(far < 2000, far, 2000.0) * 0.5)
    result = where(a <= 30, total, half * (series / sqrt(2 * _PI * far)) * half)
    result = where(x != x, x, where(a == _INF, _INF, result))
    return where(x < 0, -result, result) if order == 1 else result
