"""Comparison of two results of a launch: the first element that differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...interpreter.numbers import decode
from ...ir import FLOATS, FloatType
from .launch import Array, Region, bits_of

__all__ = ["Difference", "Result", "exact_difference", "loose_difference", "values_of"]

_FORMATS = {
    "fp16": "f16",
    "bf16": "bf16",
    "fp32": "f32",
    "fp64": "f64",
    "fp8e4nv": "f8E4M3FN",
    "fp8e5": "f8E5M2",
    "fp8e4b8": "f8E4M3FNUZ",
    "fp8e5b16": "f8E5M2FNUZ",
    "fp8e4b15": "f8E4M3B11FNUZ",
}


@dataclass(frozen=True)
class Difference:
    """The first element that differs: the argument, the offset, the value and the expected value.

    `count` elements of `total` differ by more than `allowed`.
    """

    array: Array
    byte: int
    found: Any
    expected: Any
    count: int
    total: int
    allowed: float = 0.0

    @property
    def element(self) -> str:
        """`out[3, 17]`, or the byte where that is between elements."""
        index = self.array.index(self.byte)
        if index is None:
            return f"{self.array.name}, byte {self.byte}"
        return f"{self.array.name}[{', '.join(map(str, index))}]"

    def __str__(self) -> str:
        more = f" ({self.count} of {self.total} elements differ)" if self.count > 1 else ""
        allowed = f" (tolerance {self.allowed:.3g})" if self.allowed else ""
        return f"{self.element} is {self.found}, expected {self.expected}{allowed}{more}"


@dataclass(frozen=True)
class Result:
    """The contents of the regions after a run."""

    regions: tuple[np.ndarray, ...]


def format_of(element: str) -> FloatType | None:
    """The float type of elements, None for integers."""
    name = _FORMATS.get(element)
    return FLOATS[name] if name is not None else None


def values_of(raw: np.ndarray, element: str) -> np.ndarray:
    """The elements of a region as numbers: floats (bf16 and fp8 in float32) or integers."""
    bits = raw[: len(raw) // (bits_of(element) // 8) * (bits_of(element) // 8)].view(f"u{bits_of(element) // 8}")
    ty = format_of(element)
    if ty is not None:
        return decode(bits, ty)
    return bits.view(f"i{bits.itemsize}") if element[0] == "i" else bits


def exact_difference(regions: list[Region], found: Result, expected: Result) -> Difference | None:
    """The first element whose bits differ; all NaNs are equal."""
    for region, a, b in zip(regions, found.regions, expected.regions):
        if np.array_equal(a, b):
            continue
        x, y = values_of(a, region.array.element), values_of(b, region.array.element)
        wrong = _bits(a, region) != _bits(b, region)
        if x.dtype.kind == "f":
            wrong = wrong & ~(np.isnan(x) & np.isnan(y))
        if wrong.any():
            return _first(region.array, wrong, x, y, None)
    return None


def loose_difference(
    regions: list[Region], found: Result, expected: Result, allowed: list[np.ndarray | None]
) -> Difference | None:
    """The first element that is further from the expected than `allowed` (by region and element; None: not at all)."""
    for region, a, b, limit in zip(regions, found.regions, expected.regions, allowed):
        x, y = values_of(a, region.array.element), values_of(b, region.array.element)
        wrong = _bits(a, region) != _bits(b, region)
        if limit is not None:
            with np.errstate(all="ignore"):
                near = np.abs(x.astype(np.float64) - y.astype(np.float64)) <= limit
            wrong &= ~near
        if x.dtype.kind == "f":
            wrong &= ~((np.isnan(x) & np.isnan(y)) | (x == y))
        if wrong.any():
            return _first(region.array, wrong, x, y, limit)
    return None


def _bits(raw: np.ndarray, region: Region) -> np.ndarray:
    size = region.array.size
    return raw[: len(raw) // size * size].view(f"u{size}")


def _first(array: Array, wrong: np.ndarray, x: np.ndarray, y: np.ndarray, limit: np.ndarray | None) -> Difference:
    at = int(np.flatnonzero(wrong)[0])
    allowed = 0.0 if limit is None else float(limit[at])
    return Difference(array, at * array.size, x[at], y[at], int(wrong.sum()), len(wrong), allowed)
