"""A launch that can be repeated: its arguments are copied, so that every run starts from the same bytes.

The memory of all array arguments is kept as regions, one for arrays that overlap. A run gets fresh copies, aligned as
the originals were; what it leaves in the regions is its result.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...backends.nvidia.device import device
from ...backends.nvidia.libcuda import library
from ...interpreter import TensorDesc
from ...runtime.arrays import HOST, TensorWrapper, describe, extent, is_array
from ...runtime.errors import ArgumentError
from ...runtime.tensor_descriptor import TensorDescriptor

__all__ = ["Array", "Arguments", "Region", "bits_of"]

_PAGE = 4096
_WIDTHS = {"i1": 8, "u1": 8, "bf16": 16, "fp16": 16, "fp32": 32, "fp64": 64}


def bits_of(element: str) -> int:
    """The bits that an element takes in memory.

    >>> bits_of("fp8e5"), bits_of("u64"), bits_of("i1")
    (8, 64, 8)
    """
    if element in _WIDTHS:
        return _WIDTHS[element]
    return 8 if element.startswith("fp8") else int(element[1:])


@dataclass(frozen=True)
class Array:
    """An array argument: where it stands in a region (bytes from its start), its shape, its strides in bytes."""

    name: str
    element: str
    region: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype:
        """The NumPy type of its elements; that of their bits for the floats NumPy has not."""
        plain = {"fp16": "f2", "fp32": "f4", "fp64": "f8", "i1": "?", "u1": "?", "bf16": "u2"}
        ty = plain.get(self.element) or f"{self.element[0] if self.element[0] in 'iu' else 'u'}{self.size}"
        return np.dtype(ty)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return bits_of(self.element) // 8

    def of(self, region: np.ndarray) -> np.ndarray:
        """The array in a copy of its region."""
        return np.ndarray(self.shape, self.dtype, region.data, self.offset, self.strides)

    def index(self, byte: int) -> tuple[int, ...] | None:
        """The index of the element that has the byte of the region, None where it is between elements."""
        at = byte - self.offset
        index = [0] * len(self.shape)
        for d in sorted(range(len(self.shape)), key=lambda d: -abs(self.strides[d])):
            if self.strides[d] > 0:
                index[d] = min(at // self.strides[d], self.shape[d] - 1)
                at -= index[d] * self.strides[d]
        return tuple(index) if 0 <= at < self.size else None


@dataclass(frozen=True)
class Region:
    """The memory of arrays: its bytes before the launch, where its first byte is modulo a page, its first array."""

    data: bytes
    start: int
    array: Array

    def fresh(self) -> np.ndarray:
        """A copy of the bytes that begins at an address like the original's; nothing around it belongs to it."""
        size = len(self.data)
        raw = np.empty(size + 2 * _PAGE, np.uint8)
        skip = (self.start - raw.ctypes.data) % _PAGE
        exact = (ctypes.c_uint8 * size).from_buffer(raw, skip)  # a view of `raw` would count as all of it
        copy = np.frombuffer(exact, np.uint8)
        copy[:] = np.frombuffer(self.data, np.uint8)
        return copy


class Arguments:
    """The arguments of a launch, with the types of a kernel's signature, taken as they are now."""

    def __init__(self, signature: dict[str, Any], values: Sequence[Any]) -> None:
        self.signature = signature
        self.values = list(values)
        self.regions: list[Region] = []
        self.arrays: dict[int, Array] = {}  # by the object's id
        found = [(name, ty, v) for (name, ty), v in zip(signature.items(), self.values)]
        leaves = [leaf for each in found for leaf in _leaves(*each)]
        self.gpu: int = max((info.device for _, _, v in leaves if (info := describe(v)) is not None), default=HOST)
        """The index of the GPU whose memory holds the arrays; HOST for the CPU."""
        self._collect(leaves)

    def _collect(self, leaves: list[tuple[str, str, Any]]) -> None:
        """Make regions of the arrays' memory, in the order of addresses."""
        spans = sorted({id(v): (*extent(v), name, element, v) for name, element, v in leaves}.values(), key=_span)
        groups: list[list[Any]] = []
        for span in spans:
            if groups and span[0] < max(s[1] for s in groups[-1]):
                groups[-1].append(span)
            else:
                groups.append([span])
        groups.sort(key=lambda group: min(i for i, leaf in enumerate(leaves) if any(leaf[2] is s[4] for s in group)))
        for number, group in enumerate(groups):
            low, high = group[0][0], max(s[1] for s in group)
            for first, _, name, element, value in group:
                self.arrays[id(value)] = _array(name, element, value, number, first - low)
            self.regions.append(Region(_bytes(low, high, group), low % _PAGE, self.arrays[id(group[0][4])]))

    def fresh(self, into: list[np.ndarray] | None = None) -> list[np.ndarray]:
        """Copies of all regions, in new memory or where the copies `into` are."""
        if into is None:
            return [region.fresh() for region in self.regions]
        for region, fresh in zip(self.regions, into):
            fresh[:] = np.frombuffer(region.data, np.uint8)
        return into

    def launch(self, regions: list[np.ndarray], place: Callable[[Array, np.ndarray], Any] | None = None) -> list[Any]:
        """A value for each parameter, with arrays in these copies, or with what `place` makes of each."""
        return [self._value(ty, v, regions, place) for ty, v in zip(self.signature.values(), self.values)]

    def _value(self, ty: Any, value: Any, regions: list[np.ndarray], place: Any) -> Any:
        if not isinstance(ty, str) and ty is not None:
            items = [self._value(inner, v, regions, place) for inner, v in zip(ty, value)]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, TensorDescriptor):
            again = copy(value)  # of its class: Gluon's have a layout
            again.base = self._value(None, value.base, regions, place)
            return again
        array = self.arrays.get(id(value))
        if array is None:
            return value
        fresh = array.of(regions[array.region])
        if place is not None:
            return place(array, fresh)
        known = describe(fresh)
        same = known is not None and known.element == array.element
        return fresh if same else TensorWrapper(fresh, array.element)

    def flat(
        self, regions: list[np.ndarray], place: Callable[[Array, np.ndarray], Any] | None = None
    ) -> list[tuple[str, Any]]:
        """The type and the value of each run-time argument, those in tuples as arguments of their own."""
        values = self.launch(regions, place)
        return [leaf for ty, value in zip(self.signature.values(), values) for leaf in _at_run_time(ty, value)]

    def evaluated(self, regions: list[np.ndarray]) -> list[Any]:
        """The run-time values for the evaluator: arrays, numbers, descriptors."""
        return [
            leaf for ty, value in zip(self.signature.values(), self.launch(regions)) for leaf in _run_time(ty, value)
        ]


def _leaves(name: str, ty: Any, value: Any) -> Iterator[tuple[str, str, Any]]:
    """The arrays in an argument with their element types."""
    if ty == "constexpr":
        return
    if not isinstance(ty, str):
        for i, (inner, item) in enumerate(zip(ty, value)):
            yield from _leaves(f"{name}[{i}]", inner, item)
    elif isinstance(value, TensorDescriptor):
        info = describe(value.base)
        assert info is not None
        yield name, info.element, value.base
    elif is_array(value):
        yield name, ty.lstrip("*").removeprefix("k"), value


def _at_run_time(ty: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of an argument that are passed, with their types."""
    if ty == "constexpr":
        return
    if not isinstance(ty, str):
        for inner, item in zip(ty, value):
            yield from _at_run_time(inner, item)
    else:
        yield ty, value


def _run_time(ty: Any, value: Any) -> Iterator[Any]:
    if ty == "constexpr":
        return
    if not isinstance(ty, str):
        for inner, item in zip(ty, value):
            yield from _run_time(inner, item)
    elif isinstance(value, TensorDescriptor):
        base = value.base.base if isinstance(value.base, TensorWrapper) else value.base
        shape, strides = (tuple(int(n) for n in v) for v in (value.shape, value.strides))
        yield TensorDesc(base, shape, strides, value.padding)
    else:
        yield value.base if isinstance(value, TensorWrapper) else value


def _span(span: Any) -> tuple[int, int]:
    return span[0], -span[1]


def _array(name: str, element: str, value: Any, region: int, offset: int) -> Array:
    while isinstance(value, TensorWrapper):
        value = value.base
    if not hasattr(value, "shape"):
        raise ArgumentError(f"argument {name!r}: a check needs arrays whose size is known, not {type(value).__name__}")
    size = bits_of(element) // 8
    shape = tuple(int(n) for n in value.shape)
    strides = value.strides if isinstance(value, np.ndarray) else tuple(int(s) * size for s in value.stride())
    low = sum((n - 1) * s for n, s in zip(shape, strides) if s < 0 and n)
    return Array(name, element, region, offset - low, shape, tuple(strides))


def _bytes(low: int, high: int, group: list[Any]) -> bytes:
    """The bytes of the memory that a group of arrays is in."""
    data = np.zeros(high - low, np.uint8)
    for first, last, name, _, value in group:
        while isinstance(value, TensorWrapper):
            value = value.base
        info = describe(value)
        assert info is not None
        if info.device < HOST:
            raise ArgumentError(f"argument {name!r} does not say in whose memory it is: pass a copy of the CPU")
        if last > first and info.device != HOST:
            device(info.device).synchronize()  # who makes its contents may be at it
            with device(info.device).active():
                library().call("copy", data.ctypes.data + first - low, first, last - first)
        elif last > first:
            raw = np.ctypeslib.as_array((ctypes.c_uint8 * (last - first)).from_address(first))
            data[first - low : last - low] = raw
    return data.tobytes()
