"""The semantics of `tt.dot_scaled`: dots of block-scaled operands, exact in double."""

from __future__ import annotations

from typing import Any

import numpy as np

from .meanings import meaning
from .numbers import fit

_FOUR_BITS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def unpack_e2m1(tile: np.ndarray, axis: int) -> np.ndarray:
    """Elements of e2m1 as doubles: of two in a byte, neighbours along `axis`, the lower bits are the first."""
    codes = np.asarray(tile).view(np.uint8)
    pairs = np.stack([codes & 15, codes >> 4], axis + 1)
    shape = list(codes.shape)
    shape[axis] *= 2
    return _FOUR_BITS[pairs.reshape(shape)]


@meaning("amdg.scaled_upcast_fp4", "amdg.scaled_upcast_fp8")
def _scaled_upcast(ev: object, op: Any, x: Any, scale: Any) -> Any:
    values = unpack_e2m1(x, op.axis) if op.name.endswith("fp4") else np.asarray(x, np.float64)
    return fit(values * np.asarray(scale, np.float64), op.results[0].type)


def _unpacked(tile: Any, kind: Any, axis: int) -> Any:
    """The elements as doubles, unpacked if there are two in a byte."""
    return unpack_e2m1(tile, axis) if kind.name.lower() == "e2m1" else np.asarray(tile, np.float64)


def _scales(scale: Any) -> Any:
    """Scales as doubles: exponents, 2 ** (s - 127) with NaN for 255, or 8-bit floats."""
    scale = np.asarray(scale)
    if scale.dtype.kind == "f":
        return scale.astype(np.float64)
    exponents = scale.view(np.uint8).astype(np.float64)
    return np.where(exponents == 255, np.nan, np.exp2(exponents - 127))


def _side(tile: Any, kind: Any, packed_along: int, reduced: int, scale: Any) -> Any:
    """An operand with K (axis `reduced`) last, scaled."""
    tile = np.moveaxis(_unpacked(tile, kind, packed_along), reduced, -1)
    if scale is None:
        return tile
    powers = _scales(scale)
    return tile * np.repeat(powers, tile.shape[-1] // powers.shape[-1], axis=-1)


@meaning("tt.dot_scaled")
def _dot_scaled(ev: Any, op: Any, a: Any, b: Any, c: Any, *scales: Any) -> Any:
    rest = iter(scales)
    a_scale = next(rest) if op.a_scale is not None else None
    b_scale = next(rest) if op.b_scale is not None else None
    m, n = a.ndim - 2, b.ndim - 1
    ka, kb = a.ndim - 1, b.ndim - 2
    left = _side(a, op.a_elem_type, ka if op.lhs_k_pack else m, ka, a_scale)
    right = _side(b, op.b_elem_type, kb if op.rhs_k_pack else n, kb, b_scale)
    return np.matmul(left, np.swapaxes(right, -1, -2)) + np.asarray(c, np.float64)
