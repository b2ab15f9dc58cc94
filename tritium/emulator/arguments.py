"""Arguments of a launch as the bytes of a kernel's parameters."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import SupportsInt, cast

import numpy as np

from ..support.quantities import counted
from .errors import LaunchError
from .memory import Memory

__all__ = ["encode", "triple"]

_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
_FLOAT_SIZES = {"f16": 2, "f32": 4, "f64": 8}


def triple(value: int | Sequence[int], what: str) -> tuple[int, int, int]:
    numbers = [value] if isinstance(value, int) else [int(v) for v in value]
    if not 1 <= len(numbers) <= 3 or any(n < 1 for n in numbers):
        raise LaunchError(f"the {what} must be one to three positive numbers, not {value!r}")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def encode(value: object, size: int, pointer: bool, name: str, memory: Memory, ty: str = "") -> bytes:
    """One argument as the bytes of a parameter of `size` bytes; arrays are pointers, placed in memory."""
    if isinstance(value, bytes):
        if len(value) != size:
            raise LaunchError(f"{name} has {counted(size, 'byte')}, not {len(value)}")
        return value
    offset = 0
    if isinstance(value, tuple) and len(value) == 2:
        value, offset = value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()] if size != 8 or not pointer else value
    if isinstance(value, np.ndarray):
        if size != 8:
            raise LaunchError(f"{name} has {counted(size, 'byte')}: it cannot be a pointer")
        return (memory.place(value, name) + offset).to_bytes(8, "little")
    if value is None:
        return bytes(size)
    return encode_number(value, size, name, ty)


def encode_number(value: object, size: int, name: str, ty: str) -> bytes:
    """A number; `ty` is the parameter's type where it is known to be a float."""
    if isinstance(value, np.generic) and value.dtype.itemsize == size:
        return value.tobytes()
    if isinstance(value, (float, np.floating)):
        if size not in _FLOATS:
            raise LaunchError(f"{name} has {counted(size, 'byte')}: it cannot be a float")
        return struct.pack(_FLOATS[size], float(value))
    try:
        number = int(cast("SupportsInt", value))
    except (TypeError, ValueError):
        raise LaunchError(f"{name}: {type(value).__name__} is neither an array nor a number") from None
    if ty in _FLOAT_SIZES:
        return struct.pack(_FLOATS[_FLOAT_SIZES[ty]], number)
    if not -(1 << (size * 8 - 1)) <= number < 1 << (size * 8):
        raise LaunchError(f"{name}: {number} does not fit into {counted(size, 'byte')}")
    return (number & ((1 << (size * 8)) - 1)).to_bytes(size, "little")
