"""a * b + c, rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

__all__ = ["fused_multiply_add"]


def fused_multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c as float64: of float64 the nearest, of narrower arrays one that rounds to theirs as the exact sum does.

    Multiplications of narrower floats are exact in float64. The sum is rounded to odd: the last bit is set if it is
    inexact, so that ties between two numbers of at most 51 bits are recognized.
    """
    wide = np.float64 in (np.asarray(x).dtype for x in (a, b, c))
    x, y, z = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (a, b, c)))
    with np.errstate(all="ignore"):
        product = x * y
        total = product + z
        if wide:
            return _exactly(x, y, z, total)
        part = total - product
        lost = (product - (total - part)) + (z - part)  # Knuth's exact error of the sum
        bits = np.array(total, order="C").view(np.int64)
        inexact = (lost != 0) & np.isfinite(lost) & (bits & 1 == 0)
        away = np.where((lost > 0) == (total > 0), 1, -1)
        return np.where(inexact, bits + away, bits).view(np.float64)


def _exactly(x: np.ndarray, y: np.ndarray, z: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Finite numbers as fractions; `total`, rounded twice, has the sign of zeros and what infinities and NaN give."""
    result = np.array(total, np.float64)
    infinite = np.isfinite(x) & np.isfinite(y) & np.isinf(z)
    result[infinite] = z[infinite]  # whatever the product overflows to
    for at in zip(*np.nonzero(np.atleast_1d(np.isfinite(x) & np.isfinite(y) & np.isfinite(z)))):
        at = at if result.ndim else ()
        exact = Fraction(float(x[at])) * Fraction(float(y[at])) + Fraction(float(z[at]))
        if exact:
            try:
                result[at] = float(exact)
            except OverflowError:
                result[at] = np.inf if exact > 0 else -np.inf
    return result
