"""What one vector's worth of a tile looks like while loops are being written.

A tile value, seen at one chunk of consecutive lanes, is known in one of four forms; the weakest is a vector register.
Keeping the stronger ones is what turns pointer arithmetic into scalars and accesses into plain vector loads.

`level` is the depth of the innermost loop that the value depends on: it is computed there, outside deeper loops.
"""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.tt_types import PointerType
from ...ir import TensorType, Type, Value, element_type
from ...support.dataclasses import dataclass

__all__ = ["Guarded", "Index", "Lane", "Strided", "Uniform", "Vec", "pointee_type", "tile_type"]


@dataclass(frozen=True, eq=False, slots=True)
class Uniform:
    """One scalar in all lanes."""

    value: Value
    level: int


@dataclass(frozen=True, eq=False, slots=True)
class Strided:
    """lane k = base + k * stride: integers, or pointers with the stride in elements (a number or a scalar i64)."""

    base: Value
    stride: int | Value
    level: int


@dataclass(frozen=True, eq=False, slots=True)
class Vec:
    """A vector register."""

    value: Value
    level: int


@dataclass(frozen=True, eq=False, slots=True)
class Guarded:
    """`fast` if the scalar i1 `condition` holds, else what `slow()` writes out: a chunk that rarely wraps around.

    Comes of `(start + arange) % n`, which is strided unless the chunk crosses a multiple of n.
    """

    condition: Value
    fast: Strided
    slow: Callable[[], Lane]
    level: int


Lane = Uniform | Strided | Vec | Guarded
Index = tuple[Lane, ...]


def tile_type(value: Value) -> TensorType:
    """The type of a tile."""
    ty = value.type
    assert isinstance(ty, TensorType)
    return ty


def pointee_type(ptr: Value) -> Type:
    """The type that a pointer, or a tile of pointers, points to."""
    ty = element_type(ptr.type)
    assert isinstance(ty, PointerType)
    return ty.pointee
