"""pow, cbrt, hypot, fmod.

pow: x^y = 2^(y log2 x). The logarithm has to be right to as many bits more as y log2 x has before its point: f32
uses doubles, f64 a sum of two of them (log2 to about 65 bits).

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `pow_f64`, `cbrt`.
"""

from __future__ import annotations

import math

from .builder import F32, F64, WIDE, FunctionBuilder, Value
from .exponential import EXP2, exp2_pair, nearest, two_to
from .logarithm import BINARY, combine, reduced
from .pairs import Pair, fast_two_sum, pair_over, product, two_product

__all__ = ["cbrt", "fmod", "hypot", "log2_pair", "pow"]

# atanh(s) / s = 1 + z/3 + z^2 P(z), z = s^2; relative error 2^-73.5.
LOG_PAIR = (
    0.1999999999999999,
    0.14285714285721918,
    0.11111111108895985,
    0.090909094218196387,
    0.076922792284543504,
    0.066681316382958489,
    0.058379038440327061,
    0.05990757022308385,
)
THIRD = (0.3333333333333333, 1.850371707708594e-17)
# 2 log2(e)
TWO_LOG2_E = (2.8853900817779268, 4.0710547481862066e-17)
# m^(-1/3) = P(m - 1), sqrt(1/2) <= m <= sqrt(2); relative error 2^-14.7.
CBRT = (0.999976642070741, -0.33290115750104116, 0.2243596155090074, -0.18891472685477073, 0.12838884189478783)


def log2_pair(b: FunctionBuilder, x: Value) -> Pair:
    """log2 x to about 65 bits, for finite x > 0."""
    k, m = reduced(b, x)
    # The exponents of 1 and m are those the fast two-sum asks for.
    s, s_low = pair_over(b, (m - 1.0, 0.0), fast_two_sum(b.constant(1.0), m))
    z, z_low = product(b, (s, s_low), (s, s_low))
    third, third_low = fast_two_sum(b.constant(THIRD[0]), b.fma(z, b.split_polynomial(z, LOG_PAIR), THIRD[1]))
    factor = product(b, (s, s_low), (b.constant(TWO_LOG2_E[0]), b.constant(TWO_LOG2_E[1])))
    rest = product(b, factor, product(b, (z, z_low), (third, third_low)))
    high, low = fast_two_sum(factor[0], rest[0])
    whole, lost = fast_two_sum(k, high)  # |k| >= 1 > |high|, or k = 0
    return fast_two_sum(whole, lost + (low + (factor[1] + rest[1])))


def _power_f64(b: FunctionBuilder, size: Value, y: Value) -> Value:
    """size^y for size >= 0, short of the cases that are 1 by decree."""
    high, low = log2_pair(b, size)
    # 0 has the logarithm -inf; inf and NaN are their own.
    high = b.select(size.equals(0.0), -math.inf, b.select(size.compare("uge", math.inf), size, high))
    t = y * high
    t_low = b.fma(y, low, b.fma(y, high, -t))
    t_low = b.select(b.abs(t) < 1100.0, t_low, 0.0)
    return exp2_pair(b, b.at_least(t, -1100.0), t_low)


def _power_f32(b: FunctionBuilder, size: Value, y: Value) -> Value:
    """The same through doubles."""
    w = b.view(WIDE)
    wide = size.cast("fpext", "double")
    k, m = reduced(w, wide)
    high = combine(w, k, m - 1.0, 0.0, BINARY["wide"])
    high = w.select(wide.equals(0.0), -math.inf, w.select(wide.compare("uge", math.inf), wide, high))
    t = w.at_most(w.at_least(y.cast("fpext", "double") * high, -200.0), 200.0)
    n, n_bits = nearest(w, t, 1.0)
    r = t - n
    return (w.fma(r, w.polynomial(r, EXP2["wide"]), 1.0) * two_to(w, n_bits)).cast("fptrunc", "float")


def pow(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """x^y; all special cases as C has them (1 for x = 1 or y = 0, NaN for negative x and y not an integer)."""
    size = b.abs(x)
    result = (_power_f32 if b.format is F32 else _power_f64)(b, size, y)
    half = y * 0.5
    integral = b.intrinsic("trunc", y).equals(y)
    odd = integral & ~b.intrinsic("trunc", half).equals(half)
    result = b.select((x.bits() < 0) & odd, -result, result)
    result = b.select((x < 0.0) & (size < math.inf) & ~integral, math.nan, result)
    one = x.equals(1.0) | y.equals(0.0) | (size.equals(1.0) & b.abs(y).equals(math.inf))
    return b.select(one, 1.0, result)


def cbrt(b: FunctionBuilder, x: Value) -> Value:
    """Cube root: x = 2^(3 q) m, a polynomial for m^(-1/3), one step of third order, and in f64 one more of Newton's."""
    w = b.view(WIDE) if b.format is F32 else b
    wide = x.cast("fpext", "double")
    size = w.abs(wide)
    k, m = reduced(w, size)
    shifted = w.fma(k, 1 / 3, w.format.rounder)
    remainder = w.fma(shifted - w.format.rounder, -3.0, k)
    up, down = remainder > 0.5, remainder < -0.5
    start = w.select(up, 2.0 ** (-1 / 3), w.select(down, w.constant(2.0 ** (1 / 3)), 1.0))
    r = w.polynomial(m - 1.0, CBRT) * start
    m = m * w.select(up, 2.0, w.select(down, w.constant(0.5), 1.0))
    error = w.fma(-(m * r), r * r, 1.0)
    r = w.fma(r * error, w.fma(error, 2 / 9, 1 / 3), r)
    y = m * r * r
    if b.format is F64:
        square, square_low = two_product(b, y, y)
        cube, cube_low = two_product(b, square, y)
        rest = (m - cube) - b.fma(square_low, y, cube_low)
        y = b.fma(rest, r * r * (1 / 3), y)
    result = w.copysign(y * two_to(w, shifted.bits()), wide)
    result = w.select(size.equals(0.0) | size.compare("uge", math.inf), wide, result)
    return result.cast("fptrunc", b.format.element)


def hypot(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """sqrt(x^2 + y^2) without overflow on the way; inf when either is, even beside a NaN."""
    one, other = b.abs(x), b.abs(y)
    if b.format is F32:
        w = b.view(WIDE)
        a, c = one.cast("fpext", "double"), other.cast("fpext", "double")
        result = w.sqrt(w.fma(a, a, c * c)).cast("fptrunc", "float")
    else:
        result = _hypot_f64(b, one, other)
    infinite = one.equals(math.inf) | other.equals(math.inf)
    return b.select(infinite, math.inf, result)


def _hypot_f64(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """Squares and their sum as sums of two floats, after a scaling by a power of two."""
    swap = y > x
    large, small = b.select(swap, y, x), b.select(swap, x, y)
    big, tiny = large > 2.0**500, large < 2.0**-400
    scale = b.select(big, 2.0**-600, b.select(tiny, b.constant(2.0**600), 1.0))
    back = b.select(big, 2.0**600, b.select(tiny, b.constant(2.0**-600), 1.0))
    large, small = large * scale, small * scale
    (p, p_low), (q, q_low) = two_product(b, large, large), two_product(b, small, small)
    total, lost = fast_two_sum(p, q)
    root = b.sqrt(total)
    rest = b.fma(-root, root, total) + (lost + (p_low + q_low))
    correction = b.select(root > 0.0, rest * 0.5 / root, 0.0)
    return (root + correction) * back


def fmod(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """x - y trunc(x / y), exact; of the sign of x. Long division, 50 bits of the quotient a round, in doubles."""
    x, y = b.freeze(x), b.freeze(y)
    w = b.view(WIDE) if b.format is F32 else b
    above, below = w.abs(x.cast("fpext", "double")), w.abs(y.cast("fpext", "double"))
    valid = (above < math.inf) & (below > 0.0)
    whole = valid & below.equals(math.inf)
    start, below = w.select(valid & ~whole, above, 0.0), w.select(valid & ~whole, below, 1.0)
    exponent = _exponent(w, below)

    def step(rest: Value) -> Value:
        shift = _exponent(w, rest) - exponent - 50
        shift = w.select(shift > 0, shift, 0)
        first = shift >> 1
        divisor = below * two_to(w, first) * two_to(w, shift - first)
        quotient = w.intrinsic("trunc", rest / divisor)
        # Exact: the remainder is a multiple of the divisor's last place and below twice the divisor.
        rest = w.fma(-quotient, divisor, rest)
        return w.select(rest < 0.0, rest + divisor, rest)

    rest = w.while_any(start, lambda rest: rest >= below, step)
    result = w.select(valid, w.select(whole, above, rest), math.nan)
    return b.copysign(result.cast("fptrunc", b.format.element), x)


def _exponent(b: FunctionBuilder, x: Value) -> Value:
    """The integer e with 2^e <= x < 2^(e+1) (plus the bias), for finite x > 0."""
    if b.format is WIDE:
        return x.bits().logical_shift_right(52)
    subnormal = x < b.format.smallest_normal
    lifted = b.select(subnormal, x * 2.0**52, x)
    return lifted.bits().logical_shift_right(52) - b.select(subnormal, b.integer(52), 0)
