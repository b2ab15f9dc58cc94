"""Functions of libraries on NumPy arrays of fp64: those of the CPU backend, the usual ones of libdevice and OCML."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

__all__ = ["LIBRARY", "library_function"]

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


def _away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


#: Functions of libdevice and OCML by their names without prefix and suffix: computed in fp64; callers round.
_DEVICE: dict[str, Callable[..., Any]] = {
    **LIBRARY,
    **{name: getattr(np, name) for name in ("cbrt", "ceil", "copysign", "cos", "cosh", "exp", "exp2", "expm1", "fabs")},
    **{name: getattr(np, name) for name in ("floor", "fmod", "log", "log10", "log1p", "log2", "rint", "sin", "sinh")},
    **{name: getattr(np, name) for name in ("sqrt", "tan", "tanh", "trunc")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh", "tan2")},
    "erf": np.vectorize(math.erf, [float]),
    "erfc": np.vectorize(math.erfc, [float]),
    "exp10": lambda x: np.power(10.0, x),
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0)),
    "nearbyint": np.rint,
    "pow": np.power,
    "round": _away,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}


def library_function(libname: str, symbol: str) -> Callable[..., Any] | None:
    """A library function on arrays of fp64; None if unknown."""
    if libname == "tritium":
        return LIBRARY[symbol]
    if symbol.startswith("__ocml_"):
        return _DEVICE.get(symbol[7:].removesuffix("_f32").removesuffix("_f64"))
    name = symbol.removeprefix("__nv_")
    if name == symbol:
        return None
    return _DEVICE.get(name) or (_DEVICE.get(name[:-1]) if name.endswith("f") else None)
