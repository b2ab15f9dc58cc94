"""exp, exp2, exp10, expm1.

exp(x) = 2^n * exp(r) with n = round(x / ln 2), r = x - n ln 2 in two parts, |r| <= ln(2)/2, and a minimax polynomial
for exp(r). The rounding is done by adding 1.5 * 2^mantissa, which leaves n in the low bits of the sum, and 2^n is
multiplied in by adding n to the exponent bits: no conversion, no division, no table.

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `exp_*` and `exp2_*`.
"""

from __future__ import annotations

import math

from .builder import F32, F64, FunctionBuilder, Value
from .pairs import fast_two_sum, two_product

__all__ = [
    "EXP2",
    "exp",
    "exp2",
    "exp2_pair",
    "exp10",
    "expm1",
    "expm1_sum",
    "expm1_terms",
    "limited",
    "nearest",
    "scaled",
    "two_to",
]

# exp(r) = 1 + r + r^2 P(r); relative errors 2^-28.2, 2^-57.8, 2^-34.1.
EXP = {
    "f32": (0.49999994, 0.166665211, 0.0416682921, 0.00836871658, 0.00138187234),
    "f64": (
        0.50000000000000111,
        0.16666666666666427,
        0.041666666666526624,
        0.0083333333334888304,
        0.0013888888944581738,
        0.00019841269515215881,
        2.4801492044287807e-05,
        2.7557579701991503e-06,
        2.763065258294637e-07,
        2.5002231937097655e-08,
    ),
    "wide": (
        0.50000000686995472,
        0.16666665856886512,
        0.041666291233003146,
        0.0083334986035931945,
        0.0013944936963649172,
        0.00019790133755355989,
    ),
}
# 2^r = 1 + r P(r), f64: 1 + r ln 2 + r^2 P(r); relative errors 2^-28.3, 2^-57.8, 2^-34.3.
EXP2 = {
    "f32": (0.693147182, 0.240226477, 0.0555035993, 0.00961850584, 0.00133908074, 0.000153264773),
    "f64": (
        0.24022650695910122,
        0.055504108664820737,
        0.0096181291075970263,
        0.0013333558146685627,
        0.00015403530454032919,
        1.5252733548386127e-05,
        1.321543660881289e-06,
        1.0178183420926805e-07,
        7.0735823098808587e-09,
        4.4365754895047861e-10,
    ),
    "wide": (
        0.69314718070452563,
        0.24022651066559014,
        0.055504103660012377,
        0.0096180381323841962,
        0.0013333934995731415,
        0.00015466756211476529,
        1.5196179134289565e-05,
    ),
}

# ln 2, ln 10 in two parts of full width; log10 2 with a first part short enough that n times it is exact, |n| <= 1100.
LN2 = {"f32": (0.6931471824645996, -1.904654323148236e-09), "f64": (0.6931471805599453, 2.3190468138462996e-17)}
LN2["wide"] = LN2["f64"]
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


def scaled(
    b: FunctionBuilder, x: Value, p: Value, n_bits: Value, subnormal_below: float, overflow_above: float
) -> Value:
    """p * 2^n for p near 1, with gradual underflow, inf for x beyond the last finite result, NaN for NaN.

    n goes into the exponent bits of p directly. Where the result may be subnormal it is made 2^64 (f64: 2^256) times
    too large first, and the multiplication that takes this back rounds it (to nothing at all for the least of x).
    AVX-512 has an instruction for all of it, given x that `limited` keeps from infinity.
    """
    if b.has_scalef:
        return b.scalef(p, n_bits.as_float() - b.format.rounder)
    tiny = x < subnormal_below
    lift = 64 if b.format is F32 else 256
    n_bits = n_bits + b.select(tiny, b.integer(lift), 0)
    result = (p.bits() + (n_bits << b.format.mantissa)).as_float()
    result = result * b.select(tiny, b.constant(2.0**-lift), 1.0)
    return b.select(x.compare("ugt", overflow_above), x + math.inf, result)


def limited(b: FunctionBuilder, x: Value, overflow_above: float) -> Value:
    """x, or where `scaled` does not look at it a number beyond which all results are inf."""
    return b.at_most(x, overflow_above + 1.0) if b.has_scalef else x


# Per format: below the first the result is subnormal, below the second zero, above the third inf (all for exp).
EXP_LIMITS = {
    "f32": (-87.0, -104.0, 88.72283172607421875),
    "f64": (-708.0, -746.0, 709.782712893383973096),
}
_EXP10_LIMITS = {"f32": (-37.8, -46.0, 38.531837463378906), "f64": (-307.6, -324.5, 308.2547155599167)}
EXP2_LIMITS = {"f32": (-125.5, -151.0, 127.99999237060546875), "f64": (-1021.5, -1076.0, 1023.9999999999998863)}


def exp(b: FunctionBuilder, x: Value) -> Value:
    """e^x."""
    f = b.format.name
    subnormal_below, zero_below, overflow_above = EXP_LIMITS[f]
    x = limited(b, b.at_least(x, zero_below), overflow_above)
    large, small, n_bits = expm1_terms(b, x)
    return scaled(b, x, (large + small) + 1.0, n_bits, subnormal_below, overflow_above)


def exp_polynomial(b: FunctionBuilder, r: Value) -> Value:
    """(e^r - 1 - r) / r^2."""
    return b.split_polynomial(r, EXP[b.format.name])


def exp2(b: FunctionBuilder, x: Value) -> Value:
    """2^x; exact for integers."""
    _, zero_below, overflow_above = EXP2_LIMITS[b.format.name]
    x = limited(b, b.at_least(x, zero_below), overflow_above)
    return exp2_pair(b, x, None)


def exp2_pair(b: FunctionBuilder, x: Value, x_low: Value | None) -> Value:
    """2^(x + x_low), for x not below where the result is 0; |x_low| far below 1, and finite where x is."""
    f = b.format.name
    subnormal_below, _, overflow_above = EXP2_LIMITS[f]
    n, n_bits = nearest(b, x, 1.0)
    r = x - n
    if b.format is F64:
        p = _two_to_fraction(b, r, x_low)
    else:
        p = b.fma(r, b.polynomial(r, EXP2[f]), 1.0)
    return scaled(b, x, p, n_bits, subnormal_below, overflow_above)


def _two_to_fraction(b: FunctionBuilder, r: Value, r_low: Value | None) -> Value:
    """2^(r + r_low) with the linear term, r ln 2, as a sum of two floats."""
    high, low = LN2["f64"]
    if r_low is not None:
        r, r_low = fast_two_sum(r, r_low)
    linear, lost = two_product(b, r, b.constant(high))
    lost = b.fma(r, low, lost)
    if r_low is not None:
        lost = b.fma(r_low, high, lost)
    return (linear + b.fma(r * r, b.split_polynomial(r, EXP2["f64"]), lost)) + 1.0


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
    return scaled(b, x, tail + 1.0, n_bits, subnormal_below, overflow_above)


def expm1_terms(b: FunctionBuilder, x: Value, x_low: Value | None = None) -> tuple[Value, Value, Value]:
    """(large, small, n bits), e^(x + x_low) = 2^n (1 + large + small); `large` is exact, |x| within exp's range."""
    n, n_bits = nearest(b, x, 1 / math.log(2))
    high, low = LN2[b.format.name]
    # Exact: both n * high and x are multiples of a unit that leaves the difference no more bits than it has.
    large = b.fma(n, -high, x)
    rest = n * -low if x_low is None else b.fma(n, -low, x_low)
    r = large + rest
    return large, b.fma(r * r, exp_polynomial(b, r), rest), n_bits


def expm1_sum(large: Value, small: Value, scale: Value, one: float) -> tuple[Value, Value]:
    """(high, low) whose sum is scale (1 + large + small) - one, for scale = 2^n one; full relative accuracy near 0."""
    # |scale - one| is larger than |scale * large|, or 0.
    high, low = fast_two_sum(scale - one, scale * large)
    return fast_two_sum(high, low + scale * small)


def expm1(b: FunctionBuilder, x: Value) -> Value:
    """e^x - 1."""
    overflow_above = EXP_LIMITS[b.format.name][2]
    clamped = b.at_least(x, -(b.format.mantissa + 4.0) * math.log(2))
    large, small, n_bits = expm1_terms(b, clamped)
    # Half of it: 2^n itself does not exist for the last few x before the overflow.
    high, _ = expm1_sum(large, small, two_to(b, n_bits - 1), 0.5)
    result = b.select(b.abs(x) < 2.0 ** -(b.format.mantissa + 2), x, high + high)
    return b.select(x.compare("ugt", overflow_above), x + math.inf, result)
