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

__all__ = ["ELEMENT_TYPES", "FIELDS", "MAP_BYTES", "SPANS", "Field", "TensorMap", "encode_im2col", "encode_tiled"]

MAP_BYTES = 128
#: address; strides in bytes of dimensions 1 to 4; sizes, box, element strides of 0 to 4; then single bytes:
#: rank - 1, element type, swizzle, interleave, fill mode, 1 for im2col; corners of the pixel box in dimensions 1 to 3.
_FORMAT = struct.Struct("<Q4Q5I5I5I6B6h")


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
_MAX_PIXELS = 1024
#: The values that a corner of an im2col map may have, by the rank of the tensor.
_CORNERS = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}


class TensorMap(NamedTuple):
    """A map, decoded. `strides` are in bytes, of dimensions 1 to rank - 1; `fill` is 1 where outside is NaN.

    An im2col map has `corners` (lower and upper, of dimensions 1 to rank - 2), and its box is (channels, pixels).
    """

    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    type: int
    swizzle: int
    interleave: int
    fill: int
    corners: tuple[tuple[int, ...], tuple[int, ...]] | None = None

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
        if self.corners is not None:
            return self.box
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
        between, windows = max(rank - 2, 0), values[25] == 1
        corners = values[26 : 26 + between], values[29 : 29 + between]
        return TensorMap(
            values[0],
            values[5 : 5 + rank],
            values[1:rank],
            values[10 : 10 + (2 if windows else rank)],
            values[15 : 15 + rank],
            values[21],
            values[22],
            values[23],
            values[24],
            corners if windows else None,
        )

    def encode(self) -> bytes:
        """The 128 bytes."""

        def padded(values: Sequence[int], count: int) -> list[int]:
            return [*values, *[0] * (count - len(values))]

        lower, upper = self.corners or ((), ())
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
            self.corners is not None,
            *padded(lower, 3),
            *padded(upper, 3),
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
    for axis, box in enumerate(m.box):
        most = _MAX_PIXELS if m.corners is not None and axis else _MAX_BOX
        if not 0 < box <= most:
            yield f"the box has {box} elements in dimension {axis}, not between 1 and {most}"
    for axis, step in enumerate(m.element_strides):
        if not 0 < step <= 8:
            yield f"the element stride of dimension {axis} is {step}, not between 1 and 8"
            return
    if m.corners is not None:
        yield from _faults_of_corners(m)
    inner = m.extent[0] * m.element_bytes
    if inner % 16:
        yield f"a row of the box has {inner} bytes, which is no multiple of 16"
    if m.swizzle and inner > SPANS[m.swizzle]:
        yield f"a row of the box has {inner} bytes, more than the {SPANS[m.swizzle]} that are swizzled"
    if m.fill and m.element[0] in "us":
        yield f"elements of {m.element} outside of the tensor cannot be NaN"


def _faults_of_corners(m: TensorMap) -> Iterator[str]:
    if m.rank not in _CORNERS:
        yield f"im2col maps have 3 to 5 dimensions, not {m.rank}"
        return
    assert m.corners is not None
    least, most = _CORNERS[m.rank]
    for corner in (*m.corners[0], *m.corners[1]):
        if not least <= corner <= most:
            yield f"a corner of the pixel box is {corner}, not between {least} and {most}"


def encode_im2col(
    element_type: int,
    address: int,
    sizes: Sequence[int],
    strides: Sequence[int],
    lower: Sequence[int],
    upper: Sequence[int],
    channels: int,
    pixels: int,
    element_strides: Sequence[int],
    interleave: int,
    swizzle: int,
    l2_promotion: int,
    fill: int,
) -> bytes:
    """The same from what `cuTensorMapEncodeIm2col` takes.

    >>> sizes, strides, corner = (32, 9, 9, 2), (128, 1152, 10368), (-1, -1)
    >>> data = encode_im2col(7, 4096, sizes, strides, corner, corner, 32, 64, (1, 1, 1, 1), 0, 3, 2, 0)
    >>> TensorMap.decode(data).box, TensorMap.decode(data).corners
    ((32, 64), ((-1, -1), (-1, -1)))
    """
    del l2_promotion  # a hint
    kind, n = _OF_HOST.get(element_type, element_type), len(sizes)
    if len(strides) != n - 1 or len(element_strides) != n or len(lower) != n - 2 or len(upper) != n - 2:
        raise LaunchError(f"an im2col map of {n} dimensions has {n - 1} strides and {n - 2} offsets for each corner")
    least, most = _CORNERS.get(n, (0, 0))
    corners = tuple(lower), tuple(upper)
    if any(not least <= c <= most for c in (*lower, *upper)):
        raise LaunchError(f"the corners {corners} of the pixel box are not between {least} and {most}")
    box, steps = (channels, pixels), tuple(element_strides)
    m = TensorMap(address, tuple(sizes), tuple(strides), box, steps, kind, swizzle, interleave, fill, corners)
    if m.fault is not None:
        raise LaunchError(f"this is no tensor map: {m.fault}")
    return m.encode()


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
