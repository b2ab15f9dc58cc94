"""`tl.device_print` and `print`: the callback for a kernel's tiles, and their format.

One line an element, as on a GPU: `pid (0, 0, 0) idx (3) x: 1.5`; or a text in whose fields the tiles stand, as Python's
`print` has it. The lines of one call stay together.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...support.lazy import LazyModule

_numpy = LazyModule("numpy")

__all__ = ["format_print", "print_callback"]

_CALLBACK = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int64,
)

_FORMATS = {"f16": "e", "f32": "f", "f64": "d"}


def print_callback(sites: Sequence[Mapping[str, Any]]) -> Any:
    """A C function for the launch context; keep it while kernels may call it. `sites` as in a kernel's metadata."""

    def call(user: Any, site: int, x: int, y: int, z: int, tiles: Any, size: int) -> None:
        details = sites[site]["details"]
        contents = []
        for i in range(size // 8):
            capacity = list(_shapes(details["capacities"]))[i]
            contents.append(ctypes.string_at(tiles[i], math.prod(capacity) * details["sizes"][i]))
        sys.stdout.write(format_print(details, (x, y, z), contents))
        sys.stdout.flush()

    return _CALLBACK(call)


def _shapes(flat: Sequence[int]) -> Iterator[list[int]]:
    """Rank and sizes, one shape after another."""
    at = 0
    while at < len(flat):
        rank = flat[at]
        yield list(flat[at + 1 : at + 1 + rank])
        at += 1 + rank


def format_print(details: Mapping[str, Any], program: tuple[int, int, int], tiles: Sequence[bytes]) -> str:
    """The lines of one print; `details` has prefix, hex, shapes, types, signed and sizes, `tiles` the raw elements.

    `capacities` are the shapes of the tiles, of which the elements within `shapes` are printed.
    """
    prefix = str(details["prefix"])
    if details.get("format"):
        return prefix.format(*_values(details, tiles))
    if tiles:
        prefix = prefix.rstrip().removesuffix(":") + ": "
    prefix = prefix if prefix.startswith(" ") or len(prefix.strip(": ")) == 0 else " " + prefix
    head = f"pid ({program[0]}, {program[1]}, {program[2]}) idx "
    if not tiles:
        return f"{head}(){prefix}\n"
    lines = []
    for number, (tile, shape, capacity) in enumerate(
        zip(tiles, _shapes(details["shapes"]), _shapes(details["capacities"]))
    ):
        label = f"(operand {number}) " if len(tiles) > 1 else ""
        show = _formatter(details["types"][number], details["sizes"][number], details["signed"][number], details["hex"])
        size = details["sizes"][number]
        for index in itertools.product(*map(range, shape)):
            position = 0
            for at, n in zip(index, capacity):
                position = position * n + at
            value = show(tile[position * size : (position + 1) * size])
            lines.append(f"{head}({', '.join(map(str, index))}){prefix}{label}{value}\n")
    return "".join(lines)


def _values(details: Mapping[str, Any], tiles: Sequence[bytes]) -> Iterator[Any]:
    """The tiles as numbers and as NumPy arrays, as the interpreter prints them."""
    shapes, capacities = _shapes(details["shapes"]), _shapes(details["capacities"])
    for tile, ty, size, signed, shape, capacity in zip(
        tiles, details["types"], details["sizes"], details["signed"], shapes, capacities
    ):
        array = _numpy.frombuffer(tile, _dtype(ty, size, signed)).reshape(capacity)
        yield array[tuple(slice(n) for n in shape)] if capacity else array.item()


def _dtype(ty: str, size: int, signed: int) -> str:
    if ty in _FORMATS:
        return f"f{size}"
    return "?" if ty == "i1" else f"{'i' if signed or ty.startswith('!') else 'u'}{size}"


def _formatter(ty: str, size: int, signed: int, hexadecimal: bool) -> Callable[[bytes], str]:
    if hexadecimal:
        return lambda raw: f"0x{int.from_bytes(raw, 'little'):0{2 * size}x}"
    if ty in _FORMATS:
        return lambda raw: f"{struct.unpack('<' + _FORMATS[ty], raw)[0]:f}"
    if ty == "bf16":
        return lambda raw: f"{struct.unpack('<f', bytes(2) + raw)[0]:f}"
    if ty == "i1":
        return lambda raw: str(raw[0] & 1)
    if ty.startswith("f8"):
        return lambda raw: f"0x{raw[0]:02x}"
    return lambda raw: str(int.from_bytes(raw, "little", signed=bool(signed)))
