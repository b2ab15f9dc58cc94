"""tanh, sinh, cosh, by way of e^x and e^x - 1; asinh, acosh, atanh, by way of the logarithm.

The arguments of the logarithms are formed as sums of two floats, so that nothing is lost where they are close to 1;
f32 functions get the same from doubles.

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `tanh_*`.
"""

from __future__ import annotations

import math

from .builder import F32, WIDE, FunctionBuilder, Value
from .exponential import expm1_sum, expm1_terms, two_to
from .logarithm import log_pair
from .pairs import Pair, divide, fast_two_sum, pair_over, two_product, two_sum

__all__ = ["acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]

_TANH_SPLIT = 0.625
# Relative errors 2^-27.7 and 2^-56.4.
TANH = {
    "f32": (-0.333332807, 0.133314058, -0.0537365079, 0.0206280965, -0.00569214299),
    "f64": (
        -0.33333333333332854,
        0.13333333333261932,
        -0.053968253931193332,
        0.0218694875743826,
        -0.0088632209802764969,
        0.0035919889957621528,
        -0.0014549579814357345,
        0.00058631367114836733,
        -0.00022855854700203361,
        7.7138069215814618e-05,
        -1.6069549318641909e-05,
    ),
}
# tanh x is 1 to the last bit beyond these: 2 e^(-2x) < 2^-25, 2^-54.
_TANH_LIMIT = {"f32": 9.5, "f64": 19.5}
# The largest x whose sinh and cosh are finite.
_SINH_LIMIT = {"f32": 89.41598510742188, "f64": 710.4758600739439}


def tanh(b: FunctionBuilder, x: Value) -> Value:
    """|x| < 5/8: x + x^3 P(x^2). Beyond: 1 - 2 / (e^(2|x|) + 1), where an error of the quotient counts little."""
    f = b.format.name
    near = b.at_most(b.abs(x), _TANH_SPLIT)
    z = near * near
    small = b.fma(near * z, b.split_polynomial(z, TANH[f]), near)
    far = b.at_most(b.abs(x), _TANH_LIMIT[f])
    large, rest, n_bits = expm1_terms(b, far + far)
    power = two_to(b, n_bits)
    quotient = 2.0 / (b.fma(power, large + rest, power) + 1.0)
    return b.copysign(b.select(b.abs(x) < _TANH_SPLIT, small, 1.0 - quotient), x)


def sinh(b: FunctionBuilder, x: Value) -> Value:
    """sinh |x| = 2 (q + q / (4 q + 1)) with q = (e^|x| - 1) / 4, which is finite wherever sinh is."""
    size = b.abs(x)
    large, small, n_bits = expm1_terms(b, size)
    q, q_low = expm1_sum(large, small, two_to(b, n_bits - 2), 0.25)
    # Beyond some point the quotient is 1/4, and 4 q + 1 might overflow.
    moderate = b.at_most(q, 2.0**60)
    below, below_low = two_sum(moderate * 4.0, b.constant(1.0))
    other = divide(b, moderate, q_low, below, b.fma(q_low, 4.0, below_low))
    result = q + (other + q_low)
    tiny = size < 2.0 ** -(b.format.mantissa // 2 + 2)
    result = b.select(tiny, size, result + result)
    result = b.select(size.compare("ugt", _SINH_LIMIT[b.format.name]), size + math.inf, result)
    return b.copysign(result, x)


def cosh(b: FunctionBuilder, x: Value) -> Value:
    """cosh x = 2 (e + 1 / (16 e)) with e = e^|x| / 4."""
    size = b.abs(x)
    large, small, n_bits = expm1_terms(b, size)
    scale = two_to(b, n_bits - 2)
    high, low = fast_two_sum(scale, scale * large)
    low = b.fma(scale, small, low)
    result = high + (low + 0.0625 / (high + low))
    return b.select(size.compare("ugt", _SINH_LIMIT[b.format.name]), size + math.inf, result + result)


def _square_root(b: FunctionBuilder, x: Pair) -> Pair:
    """sqrt(high + low) as a sum of two floats; of 0 too."""
    root = b.sqrt(x[0])
    rest = b.fma(-root, root, x[0]) + x[1]
    return root, b.select(root.equals(0.0), 0.0, rest * 0.5 / root)


def _log_of_sum(b: FunctionBuilder, size: Value, one: float) -> Value:
    """log(size + sqrt(size^2 + one)), for size >= 0 (>= 1 where one is -1), short of inf and NaN."""
    if b.format is WIDE:
        total = size + b.sqrt(b.fma(size, size, one))
        return log_pair(b, total, None)
    # Beyond 2^28 the square root is the size itself, to all bits that count.
    big = size > 2.0**28
    moderate = b.select(big, 1.0, size)
    square, lost = two_product(b, moderate, moderate)
    shifted, lost_too = two_sum(square, b.constant(one))
    root, root_low = _square_root(b, fast_two_sum(shifted, lost_too + lost))
    high, low = two_sum(moderate, root)
    high, low = fast_two_sum(high, low + root_low)
    high, low = b.select(big, size, high), b.select(big, 0.0, low)
    return log_pair(b, high, low, b.select(big, b.constant(1.0), 0.0))


def asinh(b: FunctionBuilder, x: Value) -> Value:
    """asinh |x| = log(|x| + sqrt(x^2 + 1)); x - x^3 / 6 for small x."""
    w = b.view(WIDE) if b.format is F32 else b
    wide = x.cast("fpext", w.type.element) if b.format is F32 else x
    size = w.abs(wide)
    near = w.fma(size * size * size, -1 / 6, size)
    result = w.select(size < (2.0**-10 if b.format is F32 else 2.0**-20), near, _log_of_sum(w, size, 1.0))
    result = w.copysign(w.select(size.compare("uge", math.inf), size, result), wide)
    return result.cast("fptrunc", b.format.element)


def acosh(b: FunctionBuilder, x: Value) -> Value:
    """log(x + sqrt(x^2 - 1)); NaN below 1."""
    w = b.view(WIDE) if b.format is F32 else b
    wide = x.cast("fpext", w.type.element)
    result = w.select(wide.compare("uge", math.inf), wide, _log_of_sum(w, wide, -1.0))
    return w.select(wide < 1.0, math.nan, result).cast("fptrunc", b.format.element)


def atanh(b: FunctionBuilder, x: Value) -> Value:
    """atanh |x| = log((1 + |x|) / (1 - |x|)) / 2; x + x^3 / 3 for small x; NaN beyond 1."""
    w = b.view(WIDE) if b.format is F32 else b
    wide = x.cast("fpext", w.type.element)
    size = w.abs(wide)
    near = w.fma(size * size * size, 1 / 3, size)
    if b.format is F32:
        result = log_pair(w, (size + 1.0) / (1.0 - size), None) * 0.5
    else:
        one = w.constant(1.0)
        quotient = pair_over(w, fast_two_sum(one, size), fast_two_sum(one, -size))
        result = log_pair(w, *quotient) * 0.5
    result = w.select(size < (2.0**-10 if b.format is F32 else 2.0**-20), near, result)
    result = w.select(size.equals(1.0), math.inf, result)
    result = w.select(size.compare("ugt", 1.0), math.nan, result)
    return w.copysign(result, wide).cast("fptrunc", b.format.element)
