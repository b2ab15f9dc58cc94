"""asin, acos, atan, atan2.

atan(a / c) for a, c >= 0: t = the smaller over the larger, atan t = t + t^3 P(t^2), and pi/2 less that when a > c.
asin x = x + x^3 P(x^2) for |x| <= 1/2; beyond, with z = (1 - |x|) / 2 (exact), asin |x| = pi/2 - 2 asin sqrt(z).

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `atan_*`, `asin_*`.
"""

from __future__ import annotations

import math

from .builder import FunctionBuilder, Value
from .pairs import fast_two_sum

__all__ = ["acos", "asin", "atan", "atan2"]

# Relative errors 2^-28.1 and 2^-54.3.
ATAN = {
    "f32": (
        -0.333332986,
        0.199985296,
        -0.142640159,
        0.109508812,
        -0.0839931592,
        0.0578817278,
        -0.03109736,
        0.010868717,
        -0.00178272557,
    ),
    "f64": (
        -0.33333333333333071,
        0.1999999999995189,
        -0.14285714282600187,
        0.11111111007754813,
        -0.090909070154799043,
        0.076922799809493625,
        -0.066664052046344499,
        0.058805347084162372,
        -0.052535493834324543,
        0.047224224496318287,
        -0.042194041178439202,
        0.036644953589397226,
        -0.029904670676246303,
        0.021978703957418643,
        -0.013885764588917866,
        0.0071779782190235291,
        -0.0028703702824391985,
        0.00082411255394534164,
        -0.00015008772518865877,
        1.2960256654134858e-05,
    ),
}  # fmt: skip
# Relative errors 2^-27.6 and 2^-55.8.
ASIN = {
    "f32": (0.166667521, 0.0749530941, 0.0454691537, 0.0241847578, 0.042158328),
    "f64": (
        0.16666666666665408,
        0.075000000003371425,
        0.044642856828216129,
        0.030381959141818259,
        0.022371757930411702,
        0.017359706587003535,
        0.013885217762176601,
        0.01216932444453284,
        0.0065274970412533924,
        0.019529594509614934,
        -0.016226487319781713,
        0.031914003498832041,
    ),
}  # fmt: skip
# pi/2 as a sum of two floats; twice that is pi.
HALF_PI = {"f32": (1.5707963705062866, -4.371138828673793e-08), "f64": (1.5707963267948966, 6.123233995736766e-17)}


def _atan_ratio(b: FunctionBuilder, above: Value, below: Value, turn: Value | None) -> Value:
    """atan(above / below) of non-negative numbers, not both 0 or inf; pi less it where the mask `turn` is set."""
    swap = above > below
    small, large = b.select(swap, below, above), b.select(swap, above, below)
    t = small / large
    z = t * t
    rest = t * z * b.split_polynomial(z, ATAN[b.format.name])
    high, low = HALF_PI[b.format.name]
    # The angle is base + sign (t + rest), with base 0, pi/2 or pi.
    flip = swap if turn is None else swap ^ turn
    base, base_low = b.select(swap, high, b.constant(0.0)), b.select(swap, low, b.constant(0.0))
    if turn is not None:
        other = b.select(turn, b.constant(2 * high), 0.0)
        other_low = b.select(turn, b.constant(2 * low), 0.0)
        base, base_low = b.select(swap, base, other), b.select(swap, base_low, other_low)
    t, rest = b.select(flip, -t, t), b.select(flip, -rest, rest)
    total, lost = fast_two_sum(base, t)
    return total + (lost + (rest + base_low))


def atan(b: FunctionBuilder, x: Value) -> Value:
    """Inverse tangent."""
    return b.copysign(_atan_ratio(b, b.abs(x), b.constant(1.0), None), x)


def atan2(b: FunctionBuilder, y: Value, x: Value) -> Value:
    """The angle of the point (x, y), in [-pi, pi]; zeros and infinities as C has them."""
    above, below = b.abs(y), b.abs(x)
    # 0/0 stands for 0/1, and inf/inf for 1/1.
    both_infinite = above.equals(math.inf) & below.equals(math.inf)
    below = b.select((above.equals(0.0) & below.equals(0.0)) | both_infinite, 1.0, below)
    above = b.select(both_infinite, 1.0, above)
    angle = b.copysign(_atan_ratio(b, above, below, x.bits() < 0), y)
    return b.select(x.compare("uno", y), x + y, angle)


def _asin_terms(b: FunctionBuilder, size: Value) -> tuple[Value, Value, Value]:
    """(far, r, rest): asin(size) is r + rest, or where the mask `far` is set pi/2 - 2 (r + rest)."""
    far = size > 0.5
    z = b.select(far, b.fma(size, -0.5, 0.5), size * size)
    root = b.sqrt(z)
    r = b.select(far, root, size)
    # What the root lost: (z - root^2) / (2 root).
    lost = b.fma(-root, root, z) / (root + root)
    rest = r * z * b.split_polynomial(z, ASIN[b.format.name])
    return far, r, b.select(far & (root > 0.0), rest + lost, rest)


def asin(b: FunctionBuilder, x: Value) -> Value:
    """Inverse sine; NaN beyond 1."""
    far, r, rest = _asin_terms(b, b.abs(x))
    high, low = HALF_PI[b.format.name]
    total, lost = fast_two_sum(b.constant(high), r * -2.0)
    beyond = total + (lost + b.fma(rest, -2.0, low))
    return b.copysign(b.select(far, beyond, r + rest), x)


def acos(b: FunctionBuilder, x: Value) -> Value:
    """Inverse cosine; NaN beyond 1."""
    far, r, rest = _asin_terms(b, b.abs(x))
    high, low = HALF_PI[b.format.name]
    negative = x.bits() < 0
    # Near: pi/2 - x. Far: 2 r, or pi less that.
    r, rest = b.select(far, r + r, r), b.select(far, rest + rest, rest)
    minus = negative ^ ~far
    r, rest = b.select(minus, -r, r), b.select(minus, -rest, rest)
    # Signs: far and positive +, far and negative -, near and positive -, near and negative +.
    base = b.select(far, b.select(negative, b.constant(2 * high), 0.0), high)
    base_low = b.select(far, b.select(negative, b.constant(2 * low), 0.0), low)
    total, lost = fast_two_sum(base, r)
    return total + (lost + (rest + base_low))
