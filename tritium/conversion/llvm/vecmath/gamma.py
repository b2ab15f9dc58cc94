"""lgamma, tgamma.

Stirling: lgamma(z) = (z - 1/2) log z - z + log(2 pi) / 2 + P(1/z^2) / z for z >= 8.

lgamma of smaller x > 0: the recurrence leads to lgamma(1 + d) = d (d - 1) P(d - 1/2), 0 <= d <= 1, which keeps the
zeros at 1 and 2 exact; of negative x: log(pi / |x sin(pi x)|) - lgamma(-x).

tgamma: Gamma(z + 8) / (z (z + 1) ... (z + 7)) for z < 8, the powers of Stirling's formula taken as one power of two;
of negative x: pi / (|x| sin(pi x) Gamma(|x|)). f32 functions go through doubles.

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `lgamma_*`, `stirling_*`.
"""

from __future__ import annotations

import math

from .builder import F32, F64, WIDE, FunctionBuilder, Value
from .exponential import EXP2, exp2_pair, nearest, two_to
from .logarithm import BINARY, combine, log_pair, reduced
from .pairs import Pair, fast_two_sum, pair_plus, pair_times, two_sum
from .power import log2_pair
from .trigonometric import COS, SIN

__all__ = ["lgamma", "tgamma"]

# Relative errors 2^-33.3 and 2^-54.6.
LGAMMA = {
    "wide": (
        0.48312895049591842,
        -0.14595989572209248,
        0.062911413932292798,
        -0.03130850886378219,
        0.016796506211778521,
        -0.0094249496981367916,
        0.0054563781787710011,
        -0.0032210625746004265,
        0.0018487564741138135,
        -0.0011068792487954914,
        0.00095920211828587777,
        -0.00060891575140068258,
    ),
    "f64": (
        0.48312895054098087,
        -0.14595989591430605,
        0.062911401074578197,
        -0.031308487501021116,
        0.016797098629456629,
        -0.0094256224474777266,
        0.0054464579319449978,
        -0.003212074120052387,
        0.0019229139053322615,
        -0.0011644134852362978,
        0.00071155495652632233,
        -0.00043800851394354634,
        0.00027098776680022383,
        -0.00016878346411261467,
        0.00010718888385637224,
        -6.6873233387165816e-05,
        3.6790326673862547e-05,
        -2.4774409487052797e-05,
        2.4936411149306221e-05,
        -1.2834932685610633e-05,
        2.7296748206247495e-06,
        -4.233694672779194e-06,
    ),
}
# Absolute errors of lgamma 2^-45.3 and 2^-64.5.
STIRLING = {
    "wide": (0.083333333331721701, -0.0027777763917156352, 0.0007933280836786771, -0.00056717921296883594),
    "f64": (
        0.083333333333333329,
        -0.0027777777777666032,
        0.00079365078583386512,
        -0.00059523567787413676,
        0.00084136493162878133,
        -0.0018841283854531545,
        0.0048911606236168338,
        0.0016359816377528374,
    ),
}
HALF_LOG_TWO_PI = 0.9189385332046728
# log2(e) and log2(2 pi) / 2 in two parts.
LOG2_E = (1.4426950408889634, 2.0355273740931033e-17)
HALF_LOG2_TWO_PI = (1.3257480647361592, 2.4190869026171e-17)
# Gamma(x) is inf beyond; 0 (or nearly all of the time not even that) below.
_TGAMMA_LARGEST = {"f32": 36.0, "f64": 172.0}
_TGAMMA_LEAST = {"f32": -44.0, "f64": -186.0}


def _sine_of_pi(b: FunctionBuilder, x: Value) -> Value:
    """sin(pi x) for |x| < 2^52: 2 sin(h) cos(h) with h = pi (x - round(x)) / 2, and the sign of (-1)^round(x)."""
    n = b.rint(x)
    h = (x - n) * (math.pi / 2)
    z = h * h
    sine = b.fma(h * z, b.polynomial(z, SIN[b.format.name]), h)
    cosine = b.fma(z * z, b.polynomial(z, COS[b.format.name]), b.fma(z, -0.5, 1.0))
    half = n * 0.5
    odd = ~half.equals(b.intrinsic("trunc", half))
    return sine * cosine * b.select(odd, b.constant(-2.0), 2.0)


def _lgamma_positive(b: FunctionBuilder, x: Value) -> Value:
    """lgamma of finite x > 0, in doubles."""
    tables = b.format.name
    small, big = x < 1.0, x > 8.0
    # The recurrence down to (1, 2], where x is between 2 and 8.
    base, product = b.select(big, 1.0, x), b.constant(1.0)
    for _ in range(6):
        above = base > 2.0
        less = base - 1.0
        product, base = b.select(above, product * less, product), b.select(above, less, base)
    d = b.select(small, x, base - 1.0)
    near = d * (d - 1.0) * b.split_polynomial(d - 0.5, LGAMMA[tables])
    logarithm = log_pair(b, b.select(small | big, x, product), None)
    inverse = 1.0 / b.at_least(x, 8.0)
    series = b.polynomial(inverse * inverse, STIRLING[tables]) * inverse
    far = b.fma(x - 0.5, logarithm - 1.0, series + (HALF_LOG_TWO_PI - 0.5))
    return b.select(big, far, near + b.select(small, -logarithm, logarithm))


def lgamma(b: FunctionBuilder, x: Value) -> Value:
    """log |Gamma(x)|; inf at 0, -1, -2, …"""
    # An f32 result needs nearly all bits of the logarithm where the terms nearly cancel.
    w = b.view(F64) if b.format is F32 else b
    wide = b.freeze(x).cast("fpext", "double")
    size = w.abs(wide)
    finite = w.select(size < math.inf, size, 1.0)
    positive = _lgamma_positive(w, finite)

    def reflected() -> Value:
        # At integers, those beyond 2^52 among them, the sine is 0 and the result inf.
        product = finite * w.abs(_sine_of_pi(w, finite))
        zero = product.equals(0.0)
        other = log_pair(w, w.select(zero, 1.0, math.pi / product), None) - positive
        other = w.select(zero, math.inf, other)
        # log |Gamma(x)| = -log |x| close to 0, where the product underflows.
        return w.select((wide < 0.0) & (size > 2.0**-60), other, positive)

    result = w.rarely(wide < 0.0, positive, reflected)
    result = w.select(size.equals(0.0), math.inf, result)
    return w.select(size < math.inf, result, size).cast("fptrunc", b.format.element)


def _stirling_log2(b: FunctionBuilder, z: Value, z_low: Value) -> Pair:
    """log2 Gamma(z + z_low), z >= 8, as a sum of two doubles; inside f32 functions the second is 0."""
    inverse = 1.0 / z
    series = b.polynomial(inverse * inverse, STIRLING[b.format.name]) * inverse
    if b.format is WIDE:
        k, m = reduced(b, z)
        logarithm = combine(b, k, m - 1.0, 0.0, BINARY["wide"])
        rest = b.fma(series - z, LOG2_E[0], HALF_LOG2_TWO_PI[0])
        return b.fma(z - 0.5, logarithm, rest), b.constant(0.0)
    zero = b.constant(0.0)
    logarithm, log_low = log2_pair(b, z)
    power = pair_times(b, (logarithm, log_low), (z - 0.5, zero))
    # The derivative is log z - 1 / (2z) - …
    change = z_low * b.fma(inverse, -0.5 * LOG2_E[0], logarithm)
    log2_e = (b.constant(LOG2_E[0]), b.constant(LOG2_E[1]))
    linear = pair_times(b, fast_two_sum(-z, series), log2_e)
    linear = pair_plus(linear, (b.constant(HALF_LOG2_TWO_PI[0]), b.constant(HALF_LOG2_TWO_PI[1])))
    high, low = pair_plus(power, linear)
    return high, low + change


def _power_of_two(b: FunctionBuilder, exponent: Pair) -> Value:
    if b.format is F64:
        return exp2_pair(b, exponent[0], exponent[1])
    n, n_bits = nearest(b, exponent[0], 1.0)
    r = exponent[0] - n
    return b.fma(r, b.polynomial(r, EXP2["wide"]), 1.0) * two_to(b, n_bits)


def _rising_product(b: FunctionBuilder, z: Value) -> Value:
    """z (z + 1) … (z + 7) for 0 <= z < 8, as q (q + 6) (q + 10) (q + 12) with q = z (z + 7)."""
    if b.format is WIDE:
        single = z * (z + 7.0)
        return single * (single + 6.0) * ((single + 10.0) * (single + 12.0))
    seven, zero = fast_two_sum(b.constant(7.0), z), b.constant(0.0)
    q = pair_times(b, seven, (z, zero))
    outer, inner = pair_times(b, q, _plus(b, q, 6.0)), pair_times(b, _plus(b, q, 10.0), _plus(b, q, 12.0))
    return pair_times(b, outer, inner)[0]


def _plus(b: FunctionBuilder, x: Pair, number: float) -> Pair:
    high, low = two_sum(x[0], b.constant(number))
    return fast_two_sum(high, low + x[1])


def tgamma(b: FunctionBuilder, x: Value) -> Value:
    """Gamma(x); NaN at negative integers, inf of its sign at 0."""
    w = b.view(WIDE) if b.format is F32 else b
    wide = x.cast("fpext", "double")
    f = b.format.name
    inside = w.at_most(w.at_least(wide, _TGAMMA_LEAST[f]), _TGAMMA_LARGEST[f])
    negative = inside < 0.0
    positive = w.abs(inside)
    shifted = positive < 8.0
    rising = w.select(shifted, _rising_product(w, positive), 1.0)
    z, z_low = fast_two_sum(w.select(shifted, w.constant(8.0), positive), w.select(shifted, positive, 0.0))
    high, low = _stirling_log2(w, z, z_low)
    sign = w.select(negative, w.constant(-1.0), 1.0)
    # 2^-64 Gamma or 2^64 / Gamma, so that no step but the last one can underflow or overflow early.
    high, lost = two_sum(high * sign, w.select(negative, w.constant(64.0), -64.0))
    power = _power_of_two(w, (high, w.fma(low, sign, lost)))
    # The sign of a result too small for any but 0 is still that of the sine.
    sine = w.select(negative, _sine_of_pi(w, wide), 1.0)
    reflected = power * (rising * (math.pi / (sine * positive))) * 2.0**-64
    result = w.select(negative, reflected, power / rising * 2.0**64)
    return _tgamma_ends(w, wide, result).cast("fptrunc", b.format.element)


def _tgamma_ends(b: FunctionBuilder, x: Value, result: Value) -> Value:
    whole = b.intrinsic("floor", x).equals(x)
    result = b.select((x < 0.0) & whole, math.nan, result)
    # Gamma(x) = 1/x - 0.577… close to 0, and the way above would overflow.
    result = b.select(b.abs(x) < 2.0**-60, 1.0 / x, result)
    return b.select(x.equals(math.inf), x, result)
