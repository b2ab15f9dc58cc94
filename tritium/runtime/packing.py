"""Arguments as the machine wants them: one 8-byte slot each, in the order of the compiled function's parameters.

See `tritium.conversion.llvm.abi` for what is in a slot. Compile-time arguments have none; a tuple has those of its
members; a tensor descriptor has its base, then its shape, then its strides (all 64 bits wide).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .arrays import ArrayInfo, describe, extent
from .errors import ArgumentError

__all__ = ["Packer", "bits_of_bf16", "bytes_address", "slot_code"]

_BYTES_OFFSET = bytes.__basicsize__ - 1  # where CPython keeps the contents of a bytes object


def _quick_bytes_address(data: bytes) -> int:
    return id(data) + _BYTES_OFFSET


def _slow_bytes_address(data: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


_probe = b"a probe of bytes"
QUICK_BYTES = _quick_bytes_address(_probe) == _slow_bytes_address(_probe)
bytes_address: Callable[[bytes], int] = _quick_bytes_address if QUICK_BYTES else _slow_bytes_address


def bits_of_bf16(value: float) -> int:
    """The 16 bits of a float rounded to bf16, ties to even."""
    single = struct.unpack("<I", struct.pack("<f", _single(value)))[0]
    if value != value:
        return single >> 16 | 0x40
    return (single + 0x7FFF + (single >> 16 & 1)) >> 16 & 0xFFFF


def _single(value: float) -> float:
    """Rounded to f32 as C does: too large is infinity (struct would raise)."""
    return ctypes.c_float(value).value


def _half(value: float) -> float:
    try:
        struct.pack("<e", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


_FLOATS: dict[str, tuple[str, Callable[[float], Any]]] = {
    "fp64": ("d", float),
    "fp32": ("f4x", _single),
    "fp16": ("e6x", _half),
    "bf16": ("Q", bits_of_bf16),
}


def slot_code(ty: str) -> str:
    """The `struct` code that fills the slot of a scalar or pointer type."""
    if ty in _FLOATS:
        return _FLOATS[ty][0]
    return "Q" if ty[0] == "*" or ty == "u64" else "q"


class Packer:
    """Packs the arguments of one specialization.

    `types` has the type of each parameter, as in a signature: `packer(args)` takes a value for every one of them and
    gives the slots, and the objects that keep their addresses valid.
    """

    def __init__(self, names: Sequence[str], types: Sequence[Any]) -> None:
        self.names = list(names)
        self.types = list(types)
        codes: list[str] = []
        for ty in self.types:
            codes += _codes(ty)
        self.slots = len(codes)
        self._pack = struct.Struct("<" + "".join(codes)).pack
        self.runtime = [i for i, ty in enumerate(self.types) if ty != "constexpr"]
        self.labels = [self.names[i] for i in self.runtime for _ in _codes(self.types[i])]

    def __call__(self, args: Sequence[Any]) -> tuple[bytes, list[Any]]:
        owners: list[Any] = []
        values: list[Any] = []
        for i in self.runtime:
            self._flatten(self.types[i], args[i], values, owners, self.names[i])
        return self._pack(*values), owners

    def _flatten(self, ty: Any, value: Any, values: list[Any], owners: list[Any], name: str) -> None:
        if not isinstance(ty, str):
            for inner, item in zip(ty, value):
                self._flatten(inner, item, values, owners, name)
        elif ty == "constexpr":
            return
        elif ty[0] == "*":
            values.append(_address(value, owners, name))
        elif ty.startswith("tensordesc"):
            values.append(_address(value.base, owners, name))
            values += [*value.shape, *value.strides]
        elif ty in _FLOATS:
            values.append(_FLOATS[ty][1](float(value)))
        else:
            values.append(int(value))

    def bounds(self, args: Sequence[Any]) -> bytes:
        """For each slot, the first byte of its array and one past the last (0, 0 where it is no address)."""
        rows: list[tuple[int, int]] = []
        for i in self.runtime:
            rows += _bounds(self.types[i], args[i])
        return b"".join(struct.pack("<QQ", *row) for row in rows)


def _codes(ty: Any) -> Iterator[str]:
    if not isinstance(ty, str):
        for inner in ty:
            yield from _codes(inner)
    elif ty.startswith("tensordesc"):
        yield from "Q" + "q" * 2 * (ty.count(",", ty.index("["), ty.index("]")) + 1)
    elif ty != "constexpr":
        yield slot_code(ty)


def _address(value: Any, owners: list[Any], name: str) -> int:
    info: ArrayInfo | None = describe(value)
    if info is None:
        raise ArgumentError(f"argument {name!r}: the kernel was compiled for an array, not a {type(value).__name__}")
    owners.append(info.owner)
    return info.address


def _bounds(ty: Any, value: Any) -> list[tuple[int, int]]:
    if not isinstance(ty, str):
        return [row for inner, item in zip(ty, value) for row in _bounds(inner, item)]
    if ty == "constexpr":
        return []
    if ty[0] == "*":
        return [extent(value)]
    if ty.startswith("tensordesc"):
        return [extent(value.base)] + [(0, 0)] * (len(value.shape) + len(value.strides))
    return [(0, 0)]
