"""The vector functions that the CPU's backend has beside those of the `math` dialect, on NumPy arrays of fp64."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

__all__ = ["LIBRARY"]

_NORMAL = NormalDist()


def _erfinv(y: float) -> float:
    """The quantile of the normal distribution, made exact by two steps of Newton on the side that has the digits."""
    if not -1 < y < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if abs(y) < 1e-8:
        return y * math.sqrt(math.pi) / 2
    a = abs(y)
    x = -_NORMAL.inv_cdf((1 - a) / 2) / math.sqrt(2)
    for _ in range(2):
        error = math.erf(x) - a if a < 0.5 else (1 - a) - math.erfc(x)
        x -= error * math.sqrt(math.pi) / 2 * math.exp(x * x)
    return math.copysign(x, y)


def _lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _tgamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    if x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf if x > 0 or math.floor(x) % 2 == 0 else -math.inf


LIBRARY: dict[str, Callable[..., Any]] = {
    "erfinv": np.vectorize(_erfinv, [float]),
    "hypot": np.hypot,
    "lgamma": np.vectorize(_lgamma, [float]),
    "tgamma": np.vectorize(_tgamma, [float]),
}
