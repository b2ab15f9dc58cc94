"""Exact numbers rounded by a mode, as a reference for arithmetic that rounds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def directed(exact: Fraction, dtype: str, mode: str, root: bool = False) -> float:
    """`exact` (or its square root) as a number of `dtype`: "rn" nearest, "rz" towards zero, "rd" down, "ru" up."""
    info = np.finfo(dtype)
    if exact == 0:
        return 0.0
    digits = info.nmant + 1
    bound = Fraction(2) ** (info.minexp - info.nmant)
    size = abs(exact)
    exponent = _exponent(size) // 2 if root else _exponent(size)
    unit = max(Fraction(2) ** (exponent - digits + 1), bound)
    below = _whole_root(size, unit) if root else size // unit
    rest = (below * unit) ** 2 != size if root else below * unit != size
    up = rest and (mode == "ru" if exact > 0 else mode == "rd")
    if mode == "rn" and rest:
        middle = (below + Fraction(1, 2)) * unit
        over = size - middle**2 if root else size - middle
        up = over > 0 or (over == 0 and below % 2 == 1)
    found = (below + up) * unit
    top = Fraction(float(info.max))
    if found > top:
        outward = mode == "rn" or (mode == "ru" if exact > 0 else mode == "rd")
        found = math.inf if outward else top
    return float(found) if exact > 0 else -float(found)


def _exponent(x: Fraction) -> int:
    """The n with 2^n <= x < 2^(n+1)."""
    n = x.numerator.bit_length() - x.denominator.bit_length()
    return n if Fraction(2) ** n <= x else n - 1


def _whole_root(x: Fraction, unit: Fraction) -> int:
    scaled = x / unit**2
    return math.isqrt(scaled.numerator // scaled.denominator)
