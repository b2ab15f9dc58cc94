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

# Relative errors 2^-28.3 and 2^-57.5.
ATAN = {
    "f32": (
        -0.333332986,
        0.199985296,
        -0.142640159,
        0.109508812,
        -0.0839931592,
        0.0578818247,
        -0.0310978815,
        0.0108695235,
        -0.00178310892,
    ),
    "f64": (
        -0.33333333333333071,
        0.19999999999951759,
        -0.14285714282584869,
        0.11111111007129207,
        -0.09090907002155138,
        0.076922798037634771,
        -0.066664035882116127,
        0.058805240931650508,
        -0.052534982942754237,
        0.04722242039274345,
        -0.04218941197575219,
        0.036636541222677378,
        -0.029894555912314078,
        0.021972496894340044,
        -0.0138880797506449,
        0.0071870884867200075,
        -0.0028797821203574432,
        0.00082940781415380925,
        -0.000151725025023032,
        1.3179336411463274e-05,
    ),
}
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
        0.01216932358557709,
        0.0065275141683132417,
        0.019529469241139172,
        -0.016226086997227687,
        0.031913530248465695,
    ),
}
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
