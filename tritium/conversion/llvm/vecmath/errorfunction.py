"""erf, erfc, erfinv.

erf, |x| < 1 (f32: 0.925): x + x P(x^2). Beyond: 1 - exp(P(|x| - 1)), with a polynomial for the logarithm of 1 - erf,
which is nearly a parabola. The exponential may be inexact by many units: what is subtracted from 1 is below 0.2.

erfc, x >= 0: exp(-x^2) P(t) / (1 + 2x) with t = (x - 4) / (x + 4), x^2 as a sum of two floats (after Shepherd and
Laframboise, 1981); 2 less that for negative x. f32 goes through doubles.

erfinv: x P(w) with w = -log(1 - x^2), or of sqrt(w) for w > 5 (the form is Giles', 2010); in f64 that is the start
of one step of Halley's, with erf or, where erf is close to 1, erfc.

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `erf*`.
"""

from __future__ import annotations

import math

from .builder import F32, F64, WIDE, FunctionBuilder, Value
from .exponential import expm1_terms, scaled, two_to
from .logarithm import log_pair
from .pairs import two_product

__all__ = ["erf", "erfc", "erfinv"]

# Where the second piece of erf begins, and where erf is 1.
ERF_SPLIT = {"f32": 0.925, "f64": 1.0}
ERF_END = {"f32": 3.95, "f64": 5.95}
# Relative errors of erf: f32 2^-25.7 (mostly the rounding of the first coefficient) and 2^-27.3;
# f64 2^-56.0 and 2^-58.7.
ERF_SMALL = {
    "f32": (0.128379151, -0.376124948, 0.112817734, -0.0267639421, 0.00498820469, -0.0005961805),
    "f64": (
        0.12837916709551256,
        -0.37612638903183343,
        0.1128379167093695,
        -0.026866170641959137,
        0.0052239775967358746,
        -0.00085483254850013391,
        0.00012055280496783888,
        -1.492446564674767e-05,
        1.6444150691188929e-06,
        -1.6183992299902388e-07,
        1.3616704692603598e-08,
        -7.6078228196434205e-10,
    ),
}
ERF_LARGE = {
    "f32": (
        -1.65640759,
        -2.51322007,
        -0.83338654,
        -0.0449178293,
        0.0116969589,
        -0.0037369295,
        0.00176930032,
        -0.000678324548,
        0.000112444512,
    ),
    "f64": (
        -1.8496055099332482,
        -2.6389675142347966,
        -0.84310725635807282,
        -0.041561098058930365,
        0.010033825627710357,
        -0.0019779048307964993,
        0.00023733580398582209,
        2.6223133816929071e-05,
        -2.6995773196936376e-05,
        9.2448126241913143e-06,
        -1.4410432967215626e-06,
        -6.7036450674447056e-07,
        9.3223445713526671e-07,
        -7.2465983758221405e-07,
        4.4110827159175594e-07,
        -2.14660864060411e-07,
        8.2317055891907518e-08,
        -2.439187854574463e-08,
        5.44694467740528e-09,
        -8.8373814842342614e-10,
        9.810455266429251e-11,
        -6.6529161107164714e-12,
        2.0756643044380289e-13,
    ),
}
# Relative errors 2^-30.5 (up to 10.3) and 2^-54.2 (up to 27.5).
ERFC = {
    "wide": (
        1.2329951188233439,
        -0.13962113158136899,
        0.015379615369112459,
        0.068097858991922472,
        -0.10103743578614786,
        0.093721439024000638,
        -0.06635770212053678,
        0.037217255963132911,
        -0.016019150784886197,
        0.0050613768071771153,
        -0.0011210768002738012,
        -0.00063742983227709773,
    ),
    "f64": (
        1.2329951186255526,
        -0.13962111684056253,
        0.01537965210260627,
        0.068097054254694284,
        -0.1010390660356459,
        0.093732834998303177,
        -0.066330365824791071,
        0.037167515537974025,
        -0.016197733933980413,
        0.0050319699759444475,
        -0.00075777400809452777,
        -0.00019925669519044,
        0.00015062433868599475,
        -2.4399163156107712e-05,
        -1.1228594635719602e-05,
        5.7093996477373083e-06,
        3.0479994460381129e-07,
        -8.2421575597357476e-07,
        6.2354148700861039e-08,
        1.0751861405200274e-07,
        -9.5306818884850327e-09,
        -1.1295660776134835e-08,
        -8.1825668012441729e-10,
    ),
}
ERFC_END = {"f32": 10.3, "f64": 27.5}
# Relative errors 2^-31.2 (w up to 5, in w - 2.5) and 2^-26.7 (sqrt(w) up to 6.05, in sqrt(w) - 3.25).
ERFINV = (
    1.5014093516924298,
    0.24664027578038702,
    -0.004177324635933879,
    -0.0012527048562054107,
    0.0002182635525652501,
    -4.9987797803731445e-06,
    -3.426008351406546e-06,
    4.7970614098331322e-07,
    1.6456354044553396e-08,
    -1.1024356160945805e-08,
    4.3709397279967673e-10,
    1.3292458294056015e-10,
)
ERFINV_TAIL = (
    3.0838856185037931,
    1.0052587584289294,
    0.0053705679867326137,
    -0.0037483891391940855,
    0.0024927860961142848,
    -0.0016996468166774223,
    0.00095532684037823374,
    -0.00033644459123727412,
    1.1220587945844568e-05,
    5.839724775000808e-05,
    -3.2240702977328248e-05,
    8.5410416374423733e-06,
    -1.1695646248466471e-06,
    6.5998385036950489e-08,
)


def erf(b: FunctionBuilder, x: Value) -> Value:
    """(2 / sqrt(pi)) times the integral of exp(-t^2) from 0 to x."""
    f = b.format.name
    evaluate = b.polynomial if b.format is F32 else b.split_polynomial
    size = b.abs(x)
    near = b.at_most(size, ERF_SPLIT[f])
    small = b.fma(near, evaluate(near * near, ERF_SMALL[f]), near)
    far = b.at_most(size, ERF_END[f])
    large, rest, n_bits = expm1_terms(b, evaluate(far - ERF_SPLIT[f], ERF_LARGE[f]))
    power = two_to(b, n_bits)
    beyond = 1.0 - b.fma(power, large + rest, power)
    return b.copysign(b.select(size < ERF_SPLIT[f], small, beyond), x)


def erfc(b: FunctionBuilder, x: Value) -> Value:
    """1 - erf(x), with full relative accuracy down to where it underflows."""
    if b.format is F64:
        return _erfc_f64(b, x)
    w = b.view(WIDE)
    wide = x.cast("fpext", "double")
    size = w.at_most(w.abs(wide), ERFC_END["f32"])
    # One division for 1 / (x + 4) and 1 / (1 + 2x).
    first, second = size + 4.0, w.fma(size, 2.0, 1.0)
    inverse = 1.0 / (first * second)
    factor = w.split_polynomial((size - 4.0) * second * inverse, ERFC["wide"]) * (first * inverse)
    large, small, n_bits = expm1_terms(w, -(size * size))
    power = two_to(w, n_bits)
    result = factor * w.fma(power, large + small, power)
    return w.select(wide < 0.0, 2.0 - result, result).cast("fptrunc", "float")


def _erfc_f64(b: FunctionBuilder, x: Value) -> Value:
    size = b.at_most(b.abs(x), ERFC_END["f64"])
    factor = b.split_polynomial((size - 4.0) / (size + 4.0), ERFC["f64"]) / b.fma(size, 2.0, 1.0)
    square, lost = two_product(b, size, size)
    large, small, n_bits = expm1_terms(b, -square, -lost)
    far = scaled(b, -square, ((large + small) + 1.0) * factor, n_bits, -690.0, 1.0)
    near = b.select(size < 0.65, x, 0.0)
    close = 1.0 - b.fma(near, b.split_polynomial(near * near, ERF_SMALL["f64"]), near)
    return b.select(size < 0.65, close, b.select(x < 0.0, 2.0 - far, far))


def _erfinv_start(b: FunctionBuilder, size: Value) -> Value:
    """erfinv to about 25 bits, 0 <= size < 1, in doubles."""
    w = -log_pair(b, (1.0 - size) * (size + 1.0), None)
    middle = b.split_polynomial(b.at_most(w, 5.0) - 2.5, ERFINV)
    root = b.sqrt(b.at_least(w, 5.0))
    tail = b.split_polynomial(b.at_most(root, 6.05) - 3.25, ERFINV_TAIL)
    return size * b.select(w > 5.0, tail, middle)


def erfinv(b: FunctionBuilder, x: Value) -> Value:
    """The y with erf(y) = x; inf at 1, NaN beyond."""
    w = b.view(WIDE)
    wide = x.cast("fpext", "double")
    size = w.abs(wide)
    inside = w.at_most(size, 1.0 - 2.0**-53)
    result = _erfinv_start(w, inside)
    if b.format is F64:
        result = _halley_step(b, inside, result)
    result = w.select(size.compare("uge", 1.0), w.select(size.equals(1.0), math.inf, w.constant(math.nan)), result)
    return w.copysign(result, wide).cast("fptrunc", b.format.element)


def _halley_step(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """A better y with erf(y) = x: the error e becomes about e^3."""
    near = x < 0.75
    # For small x an error of erf(y) relative to x; for large ones of erfc(y) relative to 1 - x.
    distance = b.select(near, erf(b, y) - x, (1.0 - x) - erfc(b, y))
    large, small, n_bits = expm1_terms(b, y * y)
    power = two_to(b, n_bits)
    inverse_slope = b.fma(power, large + small, power) * (math.sqrt(math.pi) / 2)
    step = distance * inverse_slope
    return y - step / b.fma(y, step, 1.0)
