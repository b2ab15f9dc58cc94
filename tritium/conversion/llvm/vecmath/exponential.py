"""exp, exp2, exp10, expm1.

exp(x) = 2^n * exp(r) with n = round(x / ln 2), r = x - n ln 2 in two parts, |r| <= ln(2)/2, and a minimax polynomial
for exp(r). The rounding is done by adding 1.5 * 2^mantissa, which leaves n in the low bits of the sum, and 2^n is
multiplied in by adding n to the exponent bits: no conversion, no division, no table.

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `exp_*` and `exp2_*`.
"""

from __future__ import annotations

import math

from .builder import F32, FunctionBuilder, Value, fast_two_sum

__all__ = ["exp", "exp2", "exp10", "expm1", "expm1_sum", "expm1_terms", "two_to"]

# exp(r) = 1 + r + r^2 P(r); relative errors 2^-28.2 and 2^-57.8.
EXP = {
    "f32": (0.49999994, 0.166665152, 0.0416680835, 0.0083693089, 0.00138390844),
    "f64": (
        0.50000000000000111,
        0.16666666666666508,
        0.041666666666529253,
        0.0083333333334525018,
        0.0013888888943642387,
        0.00019841269573651294,
        2.480149312108767e-05,
        2.7557539808255571e-06,
        2.7630254989970679e-07,
        2.5012020331428983e-08,
    ),
}  # fmt: skip
# 2^r = 1 + r P(r); relative errors 2^-25.9 and 2^-55.5, nearly all of it the rounding of ln 2, the first one.
EXP2 = {
    "f32": (0.693147242, 0.240226552, 0.0555020273, 0.00961696636, 0.00134504936, 0.000158660696),
    "f64": (
        0.69314718055994573,
        0.240226506959101,
        0.055504108664787943,
        0.0096181291076062291,
        0.0013333558153951013,
        0.00015403530442047487,
        1.5252726929930359e-05,
        1.3215442669713397e-06,
        1.0180829325055082e-07,
        7.0725405272073507e-09,
        4.0514346911532947e-10,
    ),
}  # fmt: skip

# ln 2, ln 10 in two parts of full width; log10 2 with a first part short enough that n times it is exact, |n| <= 1100.
LN2 = {"f32": (0.6931471824645996, -1.904654323148236e-09), "f64": (0.6931471805599453, 2.3190468138462996e-17)}
LN10 = {"f32": (2.3025851249694824, -3.1975436e-08), "f64": (2.302585092994046, -2.1707562233822494e-16)}
LG2 = {"f32": (0.301025390625, 4.60503907e-06), "f64": (0.3010299955494702, 1.1451100898021838e-10)}


def two_to(b: FunctionBuilder, n_bits: Value) -> Value:
    """2^n as a float, from an integer n in the range of normal exponents."""
    return ((n_bits + b.format.bias) << b.format.mantissa).as_float()


def nearest(b: FunctionBuilder, x: Value, scale: float) -> tuple[Value, Value]:
    """n = round(x * scale) as a float, and the integer whose low bits are n (above them: those of the rounder)."""
    rounder = b.format.rounder
    shifted = b.fma(x, scale, rounder)
    return shifted - rounder, shifted.bits()


def _scaled(
    b: FunctionBuilder, x: Value, p: Value, n_bits: Value, subnormal_below: float, overflow_above: float
) -> Value:
    """p * 2^n for p near 1, with gradual underflow, inf for x beyond the last finite result, NaN for NaN.

    n goes into the exponent bits of p directly. Where the result may be subnormal it is made 2^64 times too large
    first, and the multiplication that takes this back rounds it (to nothing at all for the least of x).
    """
    tiny = x < subnormal_below
    n_bits = n_bits + b.select(tiny, b.integer(64), 0)
    result = (p.bits() + (n_bits << b.format.mantissa)).as_float()
    result = result * b.select(tiny, b.constant(2.0**-64), 1.0)
    return b.select(x.compare("ugt", overflow_above), x + math.inf, result)


# Per format: below the first the result is subnormal, below the second zero, above the third inf (all for exp).
_EXP_LIMITS = {
    "f32": (-87.0, -104.0, 88.72283172607421875),
    "f64": (-708.0, -746.0, 709.782712893383973096),
}
_EXP10_LIMITS = {"f32": (-37.8, -46.0, 38.531837463378906), "f64": (-307.6, -324.5, 308.2547155599167)}
_EXP2_LIMITS = {"f32": (-125.5, -151.0, 127.99999237060546875), "f64": (-1021.5, -1076.0, 1023.9999999999998863)}


def exp(b: FunctionBuilder, x: Value) -> Value:
    """e^x."""
    f = b.format.name
    subnormal_below, zero_below, overflow_above = _EXP_LIMITS[f]
    x = b.at_least(x, zero_below)
    large, small, n_bits = expm1_terms(b, x)
    return _scaled(b, x, (large + small) + 1.0, n_bits, subnormal_below, overflow_above)


def exp_polynomial(b: FunctionBuilder, r: Value) -> Value:
    """(e^r - 1 - r) / r^2."""
    return (b.polynomial if b.format is F32 else b.split_polynomial)(r, EXP[b.format.name])


def exp2(b: FunctionBuilder, x: Value) -> Value:
    """2^x; exact for integers."""
    f = b.format.name
    subnormal_below, zero_below, overflow_above = _EXP2_LIMITS[f]
    x = b.at_least(x, zero_below)
    n, n_bits = nearest(b, x, 1.0)
    r = x - n
    p = b.fma(r, (b.polynomial if b.format is F32 else b.split_polynomial)(r, EXP2[f]), 1.0)
    return _scaled(b, x, p, n_bits, subnormal_below, overflow_above)


def exp10(b: FunctionBuilder, x: Value) -> Value:
    """10^x."""
    f = b.format.name
    subnormal_below, zero_below, overflow_above = _EXP10_LIMITS[f]
    x = b.at_least(x, zero_below)
    n, n_bits = nearest(b, x, math.log2(10))
    high, low = LG2[f]
    r = b.fma(n, -low, b.fma(n, -high, x))
    high, low = LN10[f]
    s = r * high
    s_low = b.fma(r, low, b.fma(r, high, -s))
    tail = b.fma(s * s, exp_polynomial(b, s), s_low) + s
    return _scaled(b, x, tail + 1.0, n_bits, subnormal_below, overflow_above)


def expm1_terms(b: FunctionBuilder, x: Value) -> tuple[Value, Value, Value]:
    """(large, small, n bits) with e^x = 2^n (1 + large + small); `large` is exact, |x| within the range of exp."""
    n, n_bits = nearest(b, x, 1 / math.log(2))
    high, low = LN2[b.format.name]
    # Exact: both n * high and x are multiples of a unit that leaves the difference no more bits than it has.
    large = b.fma(n, -high, x)
    rest = n * -low
    r = large + rest
    return large, b.fma(r * r, exp_polynomial(b, r), rest), n_bits


def expm1_sum(large: Value, small: Value, scale: Value, one: float) -> tuple[Value, Value]:
    """(high, low) whose sum is scale (1 + large + small) - one, for scale = 2^n one; full relative accuracy near 0."""
    # |scale - one| is larger than |scale * large|, or 0.
    high, low = fast_two_sum(scale - one, scale * large)
    return fast_two_sum(high, low + scale * small)


def expm1(b: FunctionBuilder, x: Value) -> Value:
    """e^x - 1."""
    overflow_above = _EXP_LIMITS[b.format.name][2]
    clamped = b.at_least(x, -(b.format.mantissa + 4.0) * math.log(2))
    large, small, n_bits = expm1_terms(b, clamped)
    # Half of it: 2^n itself does not exist for the last few x before the overflow.
    high, _ = expm1_sum(large, small, two_to(b, n_bits - 1), 0.5)
    result = b.select(b.abs(x) < 2.0 ** -(b.format.mantissa + 2), x, high + high)
    return b.select(x.compare("ugt", overflow_above), x + math.inf, result)
