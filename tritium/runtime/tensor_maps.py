"""Tensor maps for TMA: tensor descriptors encoded by the driver in 128 bytes.

The kernel's metadata (`tensordesc_meta`, an entry for each descriptor among its parameters) has the layout of a box in
shared memory; the descriptor has the address, shape and strides of the tensor. Maps are memoized by both, so that
encoding costs nothing from the second launch on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from ..support.errors import TritiumError
from ..support.patterns import pattern
from .arrays import describe
from .errors import ArgumentError

__all__ = [
    "HOST_TYPES",
    "L2_128B",
    "TF32",
    "Encode",
    "Im2ColEncoder",
    "MapEncoder",
    "Metadata",
    "NotEncodable",
    "encoders_of",
]

#: The arguments of `cuTensorMapEncodeTiled` (or `cuTensorMapEncodeIm2col`) after its result, dimensions innermost
#: first -> the bytes of the map.
Encode = Callable[..., bytes]

Metadata = Mapping[str, Any]

#: Element types of the hardware's fields -> CUtensorMapDataType, where the two differ.
HOST_TYPES = {8: 10, 9: 8, 10: 9}
TF32 = 11
_NO_INTERLEAVE, L2_128B = 0, 2  # CUtensorMapInterleave, CUtensorMapL2promotion
_NONE, _NAN = 0, 1
_ALIGNMENT = 16
_MAX_STRIDE = 1 << 40
_MAX_SIZE = 1 << 32
_KEPT = 1024
_TYPE = pattern(r"tensordesc(?:_im2col)?<(\w+)\[([\d, ]*)\](.*)>")


class NotEncodable(Exception):
    """A launch that another version of the kernel has to run (`kernel_versions`): no tensor map describes a descriptor
    made from arguments, or the launch predicate does not hold."""


class Described(Protocol):
    """What a map is made from: a `TensorDescriptor`, or one made from the arguments of a kernel (`host_maps`)."""

    @property
    def base(self) -> object: ...
    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def strides(self) -> Sequence[int]: ...
    @property
    def block_shape(self) -> Sequence[int]: ...
    @property
    def padding(self) -> str: ...
    @property
    def round_f32_to_tf32(self) -> bool: ...
    def has_uneven_rows(self, size: int) -> bool:
        """Whether rows in elements of `size` bytes do not end at multiples of 16 bytes."""


class DescribedWindows(Described, Protocol):
    """What an im2col map is made from, too."""

    @property
    def element_strides(self) -> Sequence[int]: ...
    @property
    def pixel_box_lower_corner(self) -> Sequence[int]: ...
    @property
    def pixel_box_upper_corner(self) -> Sequence[int]: ...


class MapEncoder:
    """`encoder(descriptor, address, name)`: the map, shape and strides, in the order of the kernel's parameters.

    `type` is the parameter's in the signature, `meta` its entry of `tensordesc_meta`; `encode` makes the 128 bytes.
    """

    def __init__(self, type_: str, meta: Metadata, encode: Encode) -> None:
        found = _TYPE.match(type_)
        assert found is not None, type_
        self.element = found[1]
        self.block = [int(n) for n in found[2].split(",")]
        self.uneven = "uneven" in found[3]
        self.swizzle: int = meta["swizzle"]
        self.size: int = meta["elem_size"]
        self.kind: int = meta["elem_type"]
        self.box: list[int] = list(meta["block_size"])
        self.packed = 2 if meta.get("fp4_padded") else 1
        self.encode = encode
        self._maps: dict[tuple[object, ...], tuple[Any, ...]] = {}

    def __call__(self, descriptor: Described, address: int, name: str) -> tuple[Any, ...]:
        d = descriptor
        found = self.known(d, address)
        if found is None:
            self.check(d, address, name)
            if len(self._maps) >= _KEPT:
                self._maps.clear()
            found = self._maps[self.key(d, address)] = (self.map(d, address, name), *d.shape, *d.strides)
        return found

    def known(self, descriptor: Described, address: int) -> tuple[Any, ...] | None:
        """A memoized result, None without one."""
        return self._maps.get(self.key(descriptor, address))

    def key(self, d: Described, address: int) -> tuple[object, ...]:
        """What a map depends on."""
        return (address, *d.shape, *d.strides, d.padding, d.round_f32_to_tf32, *d.block_shape)

    def map(self, d: Described, address: int, name: str) -> bytes:
        """The 128 bytes."""
        sizes = [int(n) for n in (*d.shape[:-1], d.shape[-1] * self.packed)]
        kind = TF32 if d.round_f32_to_tf32 else HOST_TYPES.get(self.kind, self.kind)
        strides = [int(s) * self.size for s in d.strides[-2::-1]]
        fill = _NAN if d.padding == "nan" else _NONE
        try:
            return self.encode(
                kind, address, sizes[::-1], strides, *self.boxes(d), _NO_INTERLEAVE, self.swizzle, L2_128B, fill
            )
        except TritiumError as error:
            raise ArgumentError(
                f"argument {name!r}: no tensor map describes it: {error}\nit has the shape {d.shape} and the strides "
                f"{d.strides} at {address:#x}, in boxes of {self.box} elements of {self.size} bytes"
            ) from None

    def boxes(self, d: Described) -> Sequence[object]:
        """The arguments of the driver's function that say what one copy moves, and in which steps."""
        return self.box[::-1], [1] * len(d.shape)

    def check(self, d: Described, address: int, name: str) -> None:
        """ArgumentError for a tensor that the hardware does not support."""
        if list(d.block_shape) != self.block:
            raise ArgumentError(
                f"argument {name!r}: the kernel was compiled for blocks of {self.block}, the descriptor has "
                f"{list(d.block_shape)}"
            )
        info = describe(d.base)
        if info is not None and info.element != self.element:
            raise ArgumentError(
                f"argument {name!r}: the kernel was compiled for elements of {self.element}, the descriptor's array "
                f"has {info.element}"
            )
        if address % _ALIGNMENT:
            raise ArgumentError(
                f"argument {name!r}: a descriptor must begin at a multiple of {_ALIGNMENT} bytes, not {address:#x}"
            )
        for axis, size in enumerate(d.shape):
            if not hasattr(size, "__index__"):
                raise ArgumentError(f"argument {name!r}: the shape of a descriptor has integers, not {size!r}")
            if not 0 < size < _MAX_SIZE:
                raise ArgumentError(
                    f"argument {name!r}: dimension {axis} of a descriptor has {size} elements, not between 1 and 2**32"
                )
        for axis, stride in enumerate(d.strides[:-1]):
            if not hasattr(stride, "__index__"):
                raise ArgumentError(f"argument {name!r}: the strides of a descriptor are integers, not {stride!r}")
            bytes_ = stride * self.size
            if bytes_ % _ALIGNMENT or not 0 <= bytes_ < _MAX_STRIDE:  # 0: the same block at every index
                raise ArgumentError(
                    f"argument {name!r}: the stride of dimension {axis} of a descriptor is {bytes_} bytes: it must be "
                    f"a multiple of {_ALIGNMENT}, not negative and below 2**40"
                )
        if d.strides[-1] != 1:
            raise ArgumentError(f"argument {name!r}: the last stride of a descriptor must be 1, not {d.strides[-1]}")
        if d.has_uneven_rows(self.size) and not self.uneven:
            raise ArgumentError(
                f"argument {name!r}: the kernel was compiled for rows of whole {_ALIGNMENT} bytes, the descriptor has "
                f"rows of {d.shape[-1] * self.size}: its type in the signature must say so (`tensordesc<…, uneven>`)"
            )


class Im2ColEncoder(MapEncoder):
    """The encoder of a `TensorDescriptorIm2Col`, by `cuTensorMapEncodeIm2col`."""

    def key(self, d: Described, address: int) -> tuple[object, ...]:
        """Steps and corners, too."""
        w = cast(DescribedWindows, d)
        return (*super().key(d, address), *w.element_strides, *w.pixel_box_lower_corner, *w.pixel_box_upper_corner)

    def boxes(self, d: Described) -> Sequence[object]:
        """The corners of the pixel box, channels and pixels, the steps."""
        pixels, channels = self.box
        w = cast(DescribedWindows, d)
        lower, upper, steps = w.pixel_box_lower_corner, w.pixel_box_upper_corner, w.element_strides
        return lower[::-1], upper[::-1], channels, pixels, steps[::-1]


def encoders_of(
    types: Sequence[Any], values: Metadata, encode: Encode, encode_im2col: Encode | None = None
) -> list[MapEncoder | None]:
    """An encoder for each descriptor among the types of a signature, in order; None for those passed as base, shape and
    strides, an empty list if all are."""
    rows = values.get("tensordesc_meta") or []
    if not rows:
        return []
    found = list(_descriptors(types))
    assert len(found) == len(rows), (found, rows)
    encoders: list[MapEncoder | None] = []
    for ty, row in zip(found, rows):
        if row and row.get("is_im2col"):
            assert encode_im2col is not None
            encoders.append(Im2ColEncoder(ty, row, encode_im2col))
        else:
            encoders.append(MapEncoder(ty, row, encode) if row else None)
    return encoders


def _descriptors(types: Sequence[Any]) -> list[str]:
    """The types of descriptors, also in tuples."""
    out: list[str] = []
    for ty in types:
        if not isinstance(ty, str):
            out += _descriptors(ty)
        elif ty.startswith("tensordesc"):
            out.append(ty)
    return out
