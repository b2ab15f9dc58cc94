"""Packing of arguments: one after another in a block of memory, as the function's parameters.

On the CPU each has a slot of 8 bytes (`SLOTS`; see `tritium.conversion.llvm.abi` for its contents). On NVIDIA GPUs they
have different sizes and alignments, and two addresses of scratch memory follow (`PARAMETERS`). Compile-time arguments
are not stored; a tuple is stored as its members; a tensor descriptor as its base, its shape, and its strides (all 64
bits wide), and on GPUs from Hopper on shape and strides once more. Kernels that use TMA take a 128-byte tensor map
instead of the first three (`tensor_maps`).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..support.lazy import LazyModule
from ..support.patterns import pattern
from .arrays import HOST, ArrayInfo, describe, extent, stands_for_tensor
from .errors import ArgumentError
from .specialize import integer_range
from .tensor_descriptor import TensorDescriptor
from .tensor_maps import MapEncoder

if TYPE_CHECKING:
    from .host_maps import HostMaps

__all__ = [
    "PARAMETERS",
    "SLOTS",
    "Layout",
    "Packer",
    "Parameters",
    "bits_of_bf16",
    "bytes_address",
    "padded",
]

_INPUT_RANK = pattern(r"[,\s]input_rank=(\d+)")
_pointers = LazyModule(".pointers", __package__)

_BYTES_OFFSET = bytes.__basicsize__ - 1  # where CPython keeps the contents of a bytes object


def _structure_bytes_address(data: bytes) -> int:
    return id(data) + _BYTES_OFFSET


def _slow_bytes_address(data: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


_probe = b"a probe of bytes"
READS_BYTES_STRUCTURE = _structure_bytes_address(_probe) == _slow_bytes_address(_probe)
bytes_address: Callable[[bytes], int] = _structure_bytes_address if READS_BYTES_STRUCTURE else _slow_bytes_address


_MAP, _MAP_ALIGNMENT = "128s", 64  # a tensor map


def bits_of_bf16(value: float) -> int:
    """The 16 bits of a float rounded to bf16, ties to even."""
    single = struct.unpack("<I", struct.pack("<f", _single(value)))[0]
    if value != value:
        return single >> 16 | 0x40
    return (single + 0x7FFF + (single >> 16 & 1)) >> 16 & 0xFFFF


def _single(value: float) -> float:
    """Rounded to f32 as in C: overflow gives infinity (struct would raise)."""
    return ctypes.c_float(value).value


def _half(value: float) -> float:
    try:
        struct.pack("<e", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


_FLOATS: dict[str, Callable[[float], Any]] = {"fp64": float, "fp32": _single, "fp16": _half, "bf16": bits_of_bf16}


def padded(codes: Sequence[str], places: Sequence[tuple[int, int]]) -> str:
    """The `struct` format of values at their offsets, without the padding before the first."""
    parts, at = [], places[0][0] if places else 0
    for code, (start, size) in zip(codes, places):
        parts.append(f"{start - at}x{code}" if start > at else code)
        at = start + size
    return "".join(parts)


class Layout:
    """The parameter layout of the CPU: a slot of 8 bytes for each argument."""

    attributes = False

    def code(self, ty: str) -> str:
        """The `struct` code of a scalar or pointer type."""
        if ty in _FLOATS:
            return {"fp64": "d", "fp32": "f4x", "fp16": "e6x", "bf16": "Q"}[ty]
        return "Q" if ty[0] == "*" or ty == "u64" else "q"

    def descriptor(self, rank: int, mapped: bool) -> list[str]:
        """The codes of a tensor descriptor, which may be a tensor map."""
        if mapped:
            return [_MAP, *"i" * rank, *"q" * rank]
        return [*"Q" + "qq" * rank, *("i" * rank + "q" * rank if self.attributes else "")]

    def places(self, codes: Sequence[str]) -> list[tuple[int, int]]:
        """(offset, size) of each value, from their codes."""
        found, at = [], 0
        for code in codes:
            size = struct.calcsize(f"<{code}")
            at += self._gap(at, code, size)
            found.append((at, size))
            at += size
        return found

    def _gap(self, at: int, code: str, size: int) -> int:
        """Padding bytes at `at`, before a value."""
        return 0

    def _tail(self, end: int) -> int:
        """Bytes after the last value."""
        return 0

    def format(self, codes: Sequence[str]) -> str:
        """The `struct` format of all arguments, from their codes."""
        places = self.places(codes)
        end = sum(places[-1]) if places else 0
        front = places[0][0] if places else 0
        return f"<{front}x{padded(codes, places)}{self._tail(end)}x"

    def address(self, info: ArrayInfo, name: str, device: int) -> int:
        """The address of an array for a kernel on `device`; ArgumentError if the device cannot access it."""
        if info.device >= 0:
            raise ArgumentError(
                f"argument {name!r} is in the memory of CUDA device {info.device}, but the kernel is compiled for the "
                "CPU\nhint: pass a CPU copy (.cpu() in torch, .get() in CuPy)"
            )
        return info.address


class Parameters(Layout):
    """The parameter layout of NVIDIA GPUs: that of C, then 16 bytes for two addresses of scratch memory.

    With `attributes`, a descriptor's shape (32 bits each) and strides (64) follow it once more: the part of a
    descriptor that the kernel reads itself, on targets where TMA reads the rest. `base` is the address of the block in
    the kernel, from which alignment is computed.
    """

    _codes = {"fp64": "d", "fp32": "f", "fp16": "e", "bf16": "H", "i1": "B", "u1": "B"}
    _integers = {"8": "b", "16": "h", "32": "i", "64": "q"}

    def __init__(self, attributes: bool = False, base: int = 0) -> None:
        self.attributes, self.base = attributes, base

    def code(self, ty: str) -> str:
        if ty[0] == "*":
            return "Q"
        found = self._codes.get(ty)
        if found is None:
            found = self._integers[ty[1:]]
            found = found.upper() if ty[0] == "u" else found
        return found

    def _gap(self, at: int, code: str, size: int) -> int:
        return -(self.base + at) % (_MAP_ALIGNMENT if code == _MAP else size)

    def _tail(self, end: int) -> int:
        return -(self.base + end) % 8 + SCRATCH_BYTES

    def address(self, info: ArrayInfo, name: str, device: int) -> int:
        if info.device == HOST and info.address:
            found = _pointers.device_address(info.address, device)
            if found is None:
                raise ArgumentError(
                    f"argument {name!r} is in the CPU's memory, but the kernel is compiled for a CUDA GPU\n"
                    "hint: pass a copy on the GPU (.cuda() in torch)"
                )
            return found
        return info.address


SCRATCH_BYTES = 16
"""The end of a GPU's parameters: the addresses of global scratch memory and of a profiler's."""

SLOTS = Layout()
PARAMETERS = {attributes: Parameters(attributes) for attributes in (False, True)}


class Packer:
    """Packs the arguments of one specialization.

    `types` has the type of each parameter, as in a signature: `packer(args)` takes a value for each of them and returns
    the block, and the descriptions of its arrays, which keep their addresses valid. `encoders` has the encoder of a
    tensor map for each tensor descriptor, None for those that are passed as base, shape and strides; it is empty if all
    are. `maps` makes the descriptors that follow the arguments, from the arguments (`host_maps`).
    """

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[Any],
        layout: Layout = SLOTS,
        encoders: Sequence[MapEncoder | None] = (),
        maps: HostMaps | None = None,
    ) -> None:
        self.names = list(names)
        self.types = list(types)
        self.layout = layout
        self.encoders = list(encoders)
        self.codes: list[str] = []
        self.labels: list[str] = []
        self.spans: list[slice] = []  # spans of the codes, for each parameter
        self.arrays: list[int] = []  # indices of the codes that are addresses of arrays
        self.maps = maps
        mapped = iter([e is not None for e in self.encoders])
        for name, ty in zip(self.names, self.types):
            first = len(self.codes)
            for leaf in _leaves(ty):
                if leaf[0] == "*" or leaf.startswith("tensordesc"):
                    self.arrays.append(len(self.codes))
                self.codes += _codes(leaf, layout, mapped)
            self.spans.append(slice(first, len(self.codes)))
            self.labels += [name] * (len(self.codes) - first)
        self.first_map = len(self.codes)
        if maps is not None:
            self.codes += [*"i" * len(maps.passed), *[_MAP] * len(maps)]
        self.labels += ["a tensor map"] * (len(self.codes) - self.first_map)
        codes = self.codes
        self.slots = len(codes)
        block = struct.Struct(layout.format(codes))
        self.size = block.size
        self._pack = block.pack
        self.runtime = [i for i, ty in enumerate(self.types) if ty != "constexpr"]

    def __call__(
        self, args: Sequence[Any], device: int = HOST, grid: Sequence[int] | None = None
    ) -> tuple[bytes, list[ArrayInfo]]:
        """The block for a launch on `device`, and its owners; NotEncodable as of `maps`."""
        found = self._found(args, device)
        if self.maps is not None:
            found.values.extend(self.maps(found.values, grid))
        try:
            return self._pack(*found.values), found.arrays
        except struct.error as error:
            raise ArgumentError(
                f"an argument does not fit into its type in ({', '.join(self.labels)}): {error}"
            ) from None

    def values(self, args: Sequence[object], device: int = HOST) -> Sequence[int]:
        """The values of the kernel's parameters for a launch on `device`, addresses as integers, without maps."""
        return self._found(args, device).values

    def _found(self, args: Sequence[object], device: int) -> _Found:
        found = _Found(self.layout, device, [], [], iter(self.encoders))
        for i in self.runtime:
            _flatten(self.types[i], args[i], self.names[i], found)
        return found

    @property
    def is_persistent(self) -> bool:
        """Whether a launch starts at most as many programs as run at once."""
        return self.maps is not None and bool(self.maps.passed)

    def bounds(self, args: Sequence[Any]) -> list[tuple[int, int]]:
        """For each slot, the first byte of its array and one past the last (0, 0 for other slots)."""
        rows: list[tuple[int, int]] = []
        for i in self.runtime:
            rows += _bounds(self.types[i], args[i])
        return rows


class _Found(NamedTuple):
    """The values of a block, and the arrays at the addresses in it."""

    layout: Layout
    device: int
    values: list[Any]
    arrays: list[ArrayInfo]
    encoders: Iterator[MapEncoder | None]

    def add_array(self, value: Any, name: str) -> None:
        """Add the address of an array."""
        info = describe(value)
        if info is None:
            cls = type(value).__name__
            raise ArgumentError(f"argument {name!r}: the kernel was compiled for an array, not a {cls}")
        if not info.address and stands_for_tensor(info.owner):
            raise ArgumentError(
                f"argument {name!r}: a {type(info.owner).__name__} is a fake tensor without memory\n"
                "hint: launch with the tensor itself (outside of tracing), or compile only, with warmup()"
            )
        self.values.append(self.layout.address(info, name, self.device))
        self.arrays.append(info)


def _flatten(ty: Any, value: Any, name: str, found: _Found) -> None:
    if not isinstance(ty, str):
        for inner, item in zip(ty, value):
            _flatten(inner, item, name, found)
    elif ty == "constexpr":
        return
    elif ty[0] == "*":
        found.add_array(value, name)
    elif ty.startswith("tensordesc"):
        if not isinstance(value, TensorDescriptor):
            cls = type(value).__name__
            raise ArgumentError(f"argument {name!r}: the kernel was compiled for a TensorDescriptor, not a {cls}")
        found.add_array(value.base, name)
        encoder = next(found.encoders, None)
        if encoder is not None:
            found.values[-1:] = encoder(value, found.values[-1], name)
            return
        found.values.extend((*value.shape, *value.strides) * (2 if found.layout.attributes else 1))
    elif ty in _FLOATS:
        found.values.append(_FLOATS[ty](float(value)))
    else:
        found.values.append(_integer(ty, int(value), name))


def _integer(ty: str, value: int, name: str) -> int:
    if ty in ("i1", "u1"):
        return int(value != 0)
    limits = integer_range(ty)
    if limits is not None and not limits[0] <= value <= limits[1]:
        raise ArgumentError(f"argument {name!r}: {value} does not fit into {ty}")
    return value


def _leaves(ty: Any) -> Iterator[str]:
    """The types in a type, which may be a tuple of types."""
    if isinstance(ty, str):
        yield ty
        return
    for inner in ty:
        yield from _leaves(inner)


def _rank(ty: str) -> int:
    """The dimensions of the tensor that a descriptor describes: those of its block, unless the type says otherwise."""
    said = _INPUT_RANK.search(ty)
    return int(said[1]) if said else ty.count(",", ty.index("["), ty.index("]")) + 1


def _codes(ty: str, layout: Layout, mapped: Iterator[bool]) -> Iterator[str]:
    if ty.startswith("tensordesc"):
        rank = _rank(ty)
        yield from layout.descriptor(rank, next(mapped, False))
    elif ty != "constexpr":
        yield layout.code(ty)


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
