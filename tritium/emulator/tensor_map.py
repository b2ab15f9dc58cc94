"""Tensor maps: descriptions of tensors in global memory for TMA, in 128 bytes.

NVIDIA's format is a secret of its driver. The emulator has one of its own, which `encode_tiled` writes in the place of
`cuTensorMapEncodeTiled` and `tensormap.replace` changes field by field; 128 zeros are a map with nothing filled in.
Dimensions count from the innermost, whose elements are neighbours in memory. (PTX ISA, "Tensor-map"; CUDA driver API,
"Tensor Map Object Management".)
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .errors import LaunchError

__all__ = ["ELEMENT_TYPES", "FIELDS", "MAP_BYTES", "SPANS", "Field", "TensorMap", "encode_tiled"]

MAP_BYTES = 128
#: address; strides in bytes of dimensions 1 to 4; sizes, box, element strides of 0 to 4; then single bytes:
#: rank - 1, element type, swizzle, interleave, fill mode.
_FORMAT = struct.Struct("<Q4Q5I5I5I5B")


class Field(NamedTuple):
    """Where `tensormap.replace` finds a field: `count` values of `size` bytes from `offset` on."""

    offset: int
    size: int
    count: int  # type: ignore[assignment]  # shadows tuple.count


FIELDS = {
    "global_address": Field(0, 8, 1),
    "global_stride": Field(8, 8, 4),
    "global_dim": Field(40, 4, 5),
    "box_dim": Field(60, 4, 5),
    "element_stride": Field(80, 4, 5),
    "rank": Field(100, 1, 1),
    "elemtype": Field(101, 1, 1),
    "swizzle_mode": Field(102, 1, 1),
    "interleave_layout": Field(103, 1, 1),
    "fill_mode": Field(104, 1, 1),
}

#: The element types by their number in `tensormap.replace.elemtype`; a name, and the bytes of an element.
ELEMENT_TYPES = {
    0: ("u8", 1),
    1: ("u16", 2),
    2: ("u32", 4),
    3: ("s32", 4),
    4: ("u64", 8),
    5: ("s64", 8),
    6: ("f16", 2),
    7: ("f32", 4),
    8: ("f32.ftz", 4),
    9: ("f64", 8),
    10: ("bf16", 2),
    11: ("tf32", 4),
    12: ("tf32.ftz", 4),
}
#: CUtensorMapDataType -> the number above: the two count three types in another order.
_OF_HOST = {**{n: n for n in range(13)}, 8: 9, 9: 10, 10: 8}
#: Bytes of a row of swizzled shared memory, by mode; 0 is not swizzled.
SPANS = {0: 0, 1: 32, 2: 64, 3: 128}
_MAX_BOX = 256


class TensorMap(NamedTuple):
    """A map, decoded. `strides` are in bytes, of dimensions 1 to rank - 1; `fill` is 1 where outside is NaN."""

    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    type: int
    swizzle: int
    interleave: int
    fill: int

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def element(self) -> str:
        """The name of the element type."""
        return ELEMENT_TYPES[self.type][0]

    @property
    def element_bytes(self) -> int:
        return ELEMENT_TYPES[self.type][1]

    @property
    def extent(self) -> tuple[int, ...]:
        """The elements that a box has in shared memory, by dimension."""
        return tuple(-(-b // s) for b, s in zip(self.box, self.element_strides))

    @property
    def box_bytes(self) -> int:
        """Bytes of a box in shared memory."""
        total = self.element_bytes
        for n in self.extent:
            total *= n
        return total

    @staticmethod
    @functools.lru_cache(maxsize=256)
    def decode(data: bytes) -> TensorMap:
        """The map that 128 bytes hold. Fields that make no sense are left to `faults`."""
        values = _FORMAT.unpack_from(data)
        rank = min(values[20] + 1, 5)
        return TensorMap(
            values[0],
            values[5 : 5 + rank],
            values[1:rank],
            values[10 : 10 + rank],
            values[15 : 15 + rank],
            *values[21:25],
        )

    def encode(self) -> bytes:
        """The 128 bytes."""

        def padded(values: Sequence[int], count: int) -> list[int]:
            return [*values, *[0] * (count - len(values))]

        return _FORMAT.pack(
            self.address,
            *padded(self.strides, 4),
            *padded(self.sizes, 5),
            *padded(self.box, 5),
            *padded(self.element_strides, 5),
            self.rank - 1,
            self.type,
            self.swizzle,
            self.interleave,
            self.fill,
        ).ljust(MAP_BYTES, b"\0")

    @property
    def fault(self) -> str | None:
        """What the hardware would not accept of this map, None where nothing is wrong."""
        return next(_faults(self), None)


def _faults(m: TensorMap) -> Iterator[str]:
    if m.type not in ELEMENT_TYPES:
        yield f"the element type {m.type} is unknown"
        return
    if m.swizzle not in SPANS:
        yield f"the swizzle mode {m.swizzle} is unknown"
        return
    if m.interleave:
        yield f"the interleave layout {m.interleave}: the emulator has only maps that are not interleaved"
    if m.address == 0 or m.address % 16:
        yield f"the global address {m.address:#x} is no multiple of 16" if m.address else "the global address is null"
    for axis, size in enumerate(m.sizes):
        if not 0 < size < 1 << 32:
            yield f"dimension {axis} has the size {size}, which is not between 1 and 2**32 - 1"
    for axis, stride in enumerate(m.strides, 1):
        if stride % 16 or not 0 <= stride < 1 << 40:
            yield f"the stride of dimension {axis} is {stride} bytes, no multiple of 16 below 2**40"
    for axis, (box, step) in enumerate(zip(m.box, m.element_strides)):
        if not 0 < box <= _MAX_BOX:
            yield f"the box has {box} elements in dimension {axis}, not between 1 and {_MAX_BOX}"
        if not 0 < step <= 8:
            yield f"the element stride of dimension {axis} is {step}, not between 1 and 8"
            return
    inner = m.extent[0] * m.element_bytes
    if inner % 16:
        yield f"a row of the box has {inner} bytes, which is no multiple of 16"
    if m.swizzle and inner > SPANS[m.swizzle]:
        yield f"a row of the box has {inner} bytes, more than the {SPANS[m.swizzle]} that are swizzled"
    if m.fill and m.element[0] in "us":
        yield f"elements of {m.element} outside of the tensor cannot be NaN"


def encode_tiled(
    element_type: int,
    address: int,
    sizes: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    element_strides: Sequence[int],
    interleave: int,
    swizzle: int,
    l2_promotion: int,
    fill: int,
) -> bytes:
    """The 128 bytes of a map, from what `cuTensorMapEncodeTiled` takes (its numbers of element types too).

    >>> data = encode_tiled(7, 4096, (64, 32), (256,), (32, 8), (1, 1), 0, 3, 2, 0)
    >>> len(data), TensorMap.decode(data).box_bytes
    (128, 1024)

    Raises LaunchError where the driver returns CUDA_ERROR_INVALID_VALUE, and says why.
    """
    del l2_promotion  # a hint
    kind = _OF_HOST.get(element_type, element_type)
    m = TensorMap(
        address, tuple(sizes), tuple(strides), tuple(box), tuple(element_strides), kind, swizzle, interleave, fill
    )
    if not 1 <= m.rank <= 5 or len(m.strides) != m.rank - 1 or len(m.box) != m.rank or len(m.element_strides) != m.rank:
        raise LaunchError(f"a tensor map has 1 to 5 dimensions, a stride for all but the first: not {m}")
    if m.fault is not None:
        raise LaunchError(f"this is no tensor map: {m.fault}")
    return m.encode()
