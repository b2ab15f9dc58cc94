"""erf.

|x| < 1 (f32: 0.925): x + x P(x^2). Beyond: 1 - exp(P(|x| - 1)), with a polynomial for the logarithm of 1 - erf,
which is nearly a parabola. The exponential may be inexact by many units: what is subtracted from 1 is below 0.2.

Coefficients: `tests/conversion/llvm/fit_vecmath.py`, entries `erf_*`.
"""

from __future__ import annotations

from typing import NamedTuple

from .builder import F32, FunctionBuilder, Value
from .exponential import expm1_terms, two_to

__all__ = ["erf"]


class Pieces(NamedTuple):
    """Where the second piece begins, where erf is 1, and both polynomials, the second in |x| - split."""

    split: float
    end: float
    small: tuple[float, ...]
    large: tuple[float, ...]


# Relative errors: f32 2^-25.9 (the rounding of the first coefficient) and 2^-25.7; f64 2^-56.0 and 2^-54.9.
ERF = {
    "f32": Pieces(
        0.925,
        3.95,
        (0.128379151, -0.376124948, 0.112818047, -0.0267658066, 0.00499164406, -0.000598181388),
        (
            -1.65640759,
            -2.5132134,
            -0.833551407,
            -0.0436613783,
            0.00748282811,
            0.0033798574,
            -0.0044969013,
            0.00204558088,
            -0.00034578648,
        ),
    ),
    "f64": Pieces(
        1.0,
        5.95,
        (
            0.12837916709551256,
            -0.37612638903183343,
            0.1128379167093695,
            -0.026866170641959335,
            0.0052239775967400379,
            -0.0008548325485347888,
            0.00012055280511961922,
            -1.492446603470021e-05,
            1.644415668068699e-06,
            -1.618404729931286e-07,
            1.3616981149726223e-08,
            -7.6084083327417309e-10,
        ),
        (
            -1.8496055099332482,
            -2.6389675142347966,
            -0.84310725635807282,
            -0.041561098058930386,
            0.01003382562771392,
            -0.0019779048309574638,
            0.00023733580687862812,
            2.6223103078554487e-05,
            -2.6995574259145233e-05,
            9.2443283615152497e-06,
            -1.441849828535595e-06,
            -6.6227918101487185e-07,
            9.0858279191163299e-07,
            -6.8418369808403265e-07,
            3.947811154454837e-07,
            -1.7728726874539133e-07,
            6.0578867087848034e-08,
            -1.5226335626988387e-08,
            2.6708800690059352e-09,
            -2.95275250280793e-10,
            1.5284699603527444e-11,
            2.9333052435822798e-13,
            -5.4963351571455386e-14,
        ),
    ),
}  # fmt: skip


def erf(b: FunctionBuilder, x: Value) -> Value:
    """(2 / sqrt(pi)) times the integral of exp(-t^2) from 0 to x."""
    pieces = ERF[b.format.name]
    evaluate = b.polynomial if b.format is F32 else b.split_polynomial
    size = b.abs(x)
    near = b.at_most(size, pieces.split)
    small = b.fma(near, evaluate(near * near, pieces.small), near)
    far = b.at_most(size, pieces.end)
    big, small_part, n_bits = expm1_terms(b, evaluate(far - pieces.split, pieces.large))
    scale = two_to(b, n_bits)
    large = 1.0 - b.fma(scale, big + small_part, scale)
    return b.copysign(b.select(size < pieces.split, small, large), x)
