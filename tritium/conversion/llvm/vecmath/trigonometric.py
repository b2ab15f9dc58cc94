"""sin, cos, tan.

x = n pi/2 + r with |r| <= pi/4; n mod 4 says which of +-sin r, +-cos r (for the tangent: r or -1/tan r) is the
result.

Moderate arguments (|x| < 2^16 in f32, 2^20 in f64) are reduced with pi/2 in three parts of full width (Cody and
Waite, with fma): n p1 is subtracted exactly, n p2 with its rounding error kept. So r is a sum of two floats whose
error is far below an ulp of r even for the x next to a multiple of pi/2. When any lane is larger, all go through the
slow path of `reduction.py` (Payne and Hanek), which is exact enough for every finite x.

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `sin_*`, `cos_*`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from .builder import F32, F64, WIDE, FunctionBuilder, MathFunction, Value, define
from .pairs import divide, fast_two_sum
from .reduction import reduce_large

__all__ = ["Reduced", "cos", "sin", "tan"]

# sin(r) = r + r^3 P(r^2): relative errors 2^-27.8, 2^-57.7, 2^-37.4.
SIN = {
    "f32": (-0.166666538, 0.00833210628, -0.000195078872),
    "f64": (
        -0.16666666666666627,
        0.0083333333333211277,
        -0.00019841269828771408,
        2.7557313329717072e-06,
        -2.5050700972506599e-08,
        1.5893458086495968e-10,
    ),
    "wide": (-0.16666666639552485, 0.0083333291606375749, -0.00019839265935414372, 2.7176804846534827e-06),
}
# cos(r) = 1 - r^2/2 + r^4 P(r^2): relative errors 2^-32.9, 2^-63.7, 2^-32.9.
COS = {
    "f32": (0.0416666456, -0.00138873036, 2.44311996e-05),
    "f64": (
        0.041666666666666588,
        -0.0013888888888872167,
        2.4801587288273956e-05,
        -2.7557314006360496e-07,
        2.0875676557953239e-09,
        -1.1357241621622016e-11,
    ),
    "wide": (0.041666644920364884, -0.0013887278513844089, 2.4428781731694656e-05),
}
# pi/2 as a sum of floats.
HALF_PI = {
    "f32": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    "f64": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
# The largest |x| of the fast path: n (16 and 20 bits) times x's and pi/2's last places still cancel exactly.
FAST_LIMIT = {"f32": 65536.0, "f64": 1048576.0}


class Reduced(NamedTuple):
    """r = high + low, |r| <= pi/4 and a little; `quadrant`: an integer equal to n modulo 4."""

    high: Value
    low: Value
    quadrant: Value


def reduce_moderate(b: FunctionBuilder, x: Value) -> Reduced:
    """|x| < FAST_LIMIT; anything for other x."""
    first, second, third = HALF_PI[b.format.name]
    rounder = b.format.rounder
    shifted = b.fma(x, 2 / math.pi, rounder)
    n = shifted - rounder
    r1 = b.fma(n, -first, x)
    product = n * second
    high = r1 - product
    # Fast two-sum: when |product| is the larger, r1 lies on a coarser grid than it, and the difference is exact anyway.
    lost = (r1 - high) - product
    low = b.fma(n, -third, lost - b.fma(n, second, -product))
    return Reduced(high, low, shifted.bits())


def sin_terms(b: FunctionBuilder, r: Reduced, z: Value) -> tuple[Value, Value]:
    """(large, small), their sum is sin(high + low); z = high^2."""
    p = b.fma(z * b.polynomial(z, SIN[b.format.name]), r.high, b.fma(z, r.low * -0.5, r.low))
    return r.high, p


def cos_terms(b: FunctionBuilder, r: Reduced, z: Value) -> tuple[Value, Value]:
    """(large, small), their sum is cos(high + low); z = high^2."""
    half = z * 0.5
    w = 1.0 - half
    rest = b.fma(-r.high, r.low, (1.0 - w) - half)
    return w, b.fma(z * z, b.polynomial(z, COS[b.format.name]), rest)


def sin_of(b: FunctionBuilder, r: Reduced, turn: int) -> Value:
    """sin(x + turn pi/2) of the reduced x."""
    z = r.high * r.high
    quadrant = r.quadrant + turn if turn else r.quadrant
    odd = (quadrant & 1).equals(1)
    (s_large, s_small), (c_large, c_small) = sin_terms(b, r, z), cos_terms(b, r, z)
    result = b.select(odd, c_large, s_large) + b.select(odd, c_small, s_small)
    sign = (quadrant & 2) << (b.format.bits - 2)
    return (result.bits() ^ sign).as_float()


def tan_of(b: FunctionBuilder, r: Reduced) -> Value:
    """tan of the reduced x: sin r / cos r, or -cos r / sin r after an odd number of quarter turns."""
    z = r.high * r.high
    (s_large, s_small), (c_large, c_small) = sin_terms(b, r, z), cos_terms(b, r, z)
    odd = (r.quadrant & 1).equals(1)
    above, above_low = fast_two_sum(b.select(odd, -c_large, s_large), b.select(odd, -c_small, s_small))
    below, below_low = fast_two_sum(b.select(odd, s_large, c_large), b.select(odd, s_small, c_small))
    return divide(b, above, above_low, below, below_low)


Finish = Callable[[FunctionBuilder, Reduced], Value]


def _large(name: str, b: FunctionBuilder, finish: Finish) -> MathFunction:
    """The slow path as a function of its own: the reduction and all that follows in doubles."""

    def body(b: FunctionBuilder, x: Value) -> Value:
        wide = b.view(WIDE if b.format is F32 else F64)
        result = finish(wide, Reduced(*reduce_large(wide, x.cast("fpext", "double"), b.format)))
        return result.cast("fptrunc", x.type.element)

    return define(name + ".large", b.format, b.lanes, 1, body, inline=False)


def _periodic(b: FunctionBuilder, x: Value, name: str, finish: Finish) -> Value:
    """The fast path for all lanes, and the slow one put into the lanes that need it when there are any."""
    usual = finish(b, reduce_moderate(b, x))
    large = b.abs(x) >= FAST_LIMIT[b.format.name]
    slow = _large(name, b, finish)
    return b.rarely(large, usual, lambda: b.select(large, b.call(slow, x), usual))


def sin(b: FunctionBuilder, x: Value) -> Value:
    """Sine; NaN for infinities."""
    x = b.freeze(x)
    result = _periodic(b, x, "sin", lambda b, r: sin_of(b, r, 0))
    # -0: the sum of r = -0 and its correction +0 would be +0.
    return b.select(x.equals(0.0), x, result)


def cos(b: FunctionBuilder, x: Value) -> Value:
    """Cosine; NaN for infinities."""
    return _periodic(b, b.freeze(x), "cos", lambda b, r: sin_of(b, r, 1))


def tan(b: FunctionBuilder, x: Value) -> Value:
    """Tangent; NaN for infinities."""
    x = b.freeze(x)
    result = _periodic(b, x, "tan", tan_of)
    return b.select(x.equals(0.0), x, result)
