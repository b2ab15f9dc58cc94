"""Minima and maxima of NumPy arrays as docs/semantics.md has them: of zeros, and of NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["maximum", "maximum_number", "minimum", "minimum_number"]


def _extreme(a: Any, b: Any, keep_nan: bool, upwards: bool) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind != "f":
        return np.maximum(a, b) if upwards else np.minimum(a, b)
    zero = (a == 0) & (b == 0)
    by_sign = np.where(np.signbit(a) == upwards, b, a)
    result = np.where(zero, by_sign, np.where((a > b) == upwards, a, b))
    either = np.where(np.isnan(a), b, np.where(np.isnan(b), a, result))
    return np.where(np.isnan(a) | np.isnan(b), a + b, either) if keep_nan else either


def maximum(a: Any, b: Any) -> Any:
    """The greater one, NaN if either is; -0.0 is less than 0.0."""
    return _extreme(a, b, True, True)


def minimum(a: Any, b: Any) -> Any:
    """The lesser one, NaN if either is; -0.0 is less than 0.0."""
    return _extreme(a, b, True, False)


def maximum_number(a: Any, b: Any) -> Any:
    """The greater one, of a number and NaN the number; -0.0 is less than 0.0."""
    return _extreme(a, b, False, True)


def minimum_number(a: Any, b: Any) -> Any:
    """The lesser one, of a number and NaN the number; -0.0 is less than 0.0."""
    return _extreme(a, b, False, False)
