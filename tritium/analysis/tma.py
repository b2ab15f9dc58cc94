"""TMA descriptors: how a block is divided into boxes, and which blocks TMA supports.

A descriptor in memory (PTX: tensor map, 128 bytes) contains the address and shape of a tensor and the size of a box.
One instruction copies a box; a block that is wider than a swizzled row, or longer than 256, takes several, whose boxes
are consecutive in shared memory (`layout.shared.tma_block_shape`).

The encodings of `element_number` and `swizzle_number` are those of `tensormap.replace` (PTX ISA 8.7, section 9.7.9.27).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, cast

from ..dialects.tt_types import TensorDescType
from ..dialects.ttg_memory import NvmmaShared, SwizzledShared
from ..dialects.ttg_operands import nvmma_for
from ..ir import FloatType, IntegerType, TensorType, Type, bf16, f16, f32, f64
from ..layout.bases import per_block
from ..layout.shared import tma_block_shape

if TYPE_CHECKING:
    from ..dialects.ttng_types import TensorDescIm2ColType

__all__ = [
    "DESCRIPTOR_BYTES",
    "MIN_ROW_BYTES",
    "EXPANDED",
    "EXTENTS",
    "FORMER_UNLIKELY",
    "HOST_MAP",
    "LAUNCH_PREDICATE",
    "LAUNCH_VALUE",
    "MAX_TRIPS",
    "MIN_PROGRAMS",
    "PROGRAMS",
    "UNLIKELY",
    "STAY",
    "block_bytes",
    "box_of",
    "element_number",
    "fits_tma",
    "layout_for_shape",
    "pixel_box",
    "swizzle_number",
    "tensordesc_row",
]

#: Size and alignment of a descriptor in memory: of a CUtensorMap, and of the objects of `tensormap.replace`.
DESCRIPTOR_BYTES = 128

#: Attribute of a kernel, some of whose descriptors were lowered to pointers: for each whether it remains one.
STAY = "tritium.descriptors"

#: Attribute of a kernel, some of whose descriptor parameters were replaced by several parameters each.
EXPANDED = "tritium.expanded_parameters"

#: Attribute of a parameter: the launcher encodes this descriptor from the other arguments (`host-tensor-maps`).
HOST_MAP = "tritium.host_map"

#: Attribute of an i32 parameter after those of the source: what the launcher passes, the number of programs
#: (`PROGRAMS`) or the extent of a dimension of the grid (`EXTENTS`).
LAUNCH_VALUE = "tritium.launch_value"
PROGRAMS = "programs"
EXTENTS = ("programs_x", "programs_y", "programs_z")

#: Attribute of a persistent kernel: launches of fewer programs run the other version.
MIN_PROGRAMS = "tritium.min_programs"

#: Attribute of a loop of a persistent kernel: launches with more iterations run the other version.
MAX_TRIPS = "tritium.max_trips"

#: Attribute of a kernel that only some launches can run: the conditions (`launch_conditions`).
LAUNCH_PREDICATE = "tritium.launch_predicate"

#: Attribute of a branch: the else region, which does what TMA does not support, is unlikely to be taken.
UNLIKELY = "tritium.unlikely"
FORMER_UNLIKELY = "tritium.seldom"  # read for one release

#: TMA moves multiples of this many bytes of a row (CUDA driver API, cuTensorMapEncodeTiled).
MIN_ROW_BYTES = 16

_FLOATS: dict[Type, int] = {f16: 6, f32: 7, f64: 9, bf16: 10}
_INTEGERS = {(8, False): 0, (8, True): 0, (16, False): 1, (16, True): 1}
_INTEGERS |= {(32, False): 2, (32, True): 3, (64, False): 4, (64, True): 5}
_FP4_PADDED = 14
MAX_PIXELS = 1024
"""Pixels that one im2col load copies at most (CUDA driver API, cuTensorMapEncodeIm2col)."""
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


def element_number(ty: TensorDescType) -> int | None:
    """The encoding of the element type, None if TMA does not support it; 8-bit floats are copied as bytes."""
    element, layout = ty.block.element, ty.block.encoding
    if isinstance(layout, NvmmaShared) and layout.fp4Padded:
        return _FP4_PADDED
    if element in _FLOATS:
        return _FLOATS[element]
    if isinstance(element, (IntegerType, FloatType)):
        return _INTEGERS.get((element.width, getattr(element, "signedness", "") == "s"))
    return None


def swizzle_number(layout: Any) -> int:
    """The encoding of the swizzle of a layout; `ValueError` for one that TMA does not support."""
    if isinstance(layout, SwizzledShared) and layout.vec == layout.perPhase == layout.maxPhase == 1:
        return 0
    if not isinstance(layout, NvmmaShared) or layout.transposed:
        raise ValueError(f"TMA does not support buffers of layout {layout}")
    if layout.fp4Padded and layout.swizzlingByteWidth != 128:
        raise ValueError("padded 4-bit elements need a swizzle of 128 bytes")
    return _SWIZZLES[layout.swizzlingByteWidth]


def box_of(layout: Any, shape: Sequence[int], packed: bool = False) -> list[int]:
    """The box of a block of `shape`, in elements; for padded 4-bit elements, unless `packed`, in halves."""
    mine = per_block(shape, getattr(layout, "CGALayout", ()))
    if not isinstance(layout, NvmmaShared):
        return tma_block_shape(mine, 0, 8, False, False)
    padded = layout.fp4Padded
    box = tma_block_shape(mine, layout.swizzlingByteWidth, layout.elementBitWidth, layout.transposed, padded)
    if padded and not packed:
        box[-1] *= 2
    return box


def pixel_box(layout: NvmmaShared, shape: Sequence[int]) -> list[int]:
    """The pixels and channels of one im2col load for a block of `shape`.

    All pixels come by one instruction, since only the hardware knows where the next ones are; channels by several.
    Raises ValueError where that is not possible.
    """
    pixels, channels = per_block(shape, layout.CGALayout)
    if pixels != shape[0]:
        raise ValueError(f"the pixels of a block cannot be split between CTAs: {layout}")
    if pixels > MAX_PIXELS:
        raise ValueError(f"a block of {pixels} pixels is more than the {MAX_PIXELS} of one load")
    return [pixels, box_of(layout, (1, channels))[1]]


def block_bytes(layout: Any, shape: Sequence[int], bits: int) -> int:
    """The bytes of a block of `shape` per CTA: the transaction count of its mbarrier."""
    return prod(per_block(shape, getattr(layout, "CGALayout", ()))) * bits // 8


def _fitted(bases: Sequence[Sequence[int]], rank: int) -> tuple[tuple[int, ...], ...]:
    """Bases with `rank` dimensions: leading ones are dropped, or added as zeros."""
    return tuple((*[0] * (rank - len(basis)), *basis[max(0, len(basis) - rank) :]) for basis in bases)


def layout_for_shape(layout: NvmmaShared, shape: Sequence[int]) -> NvmmaShared:
    """The same swizzle for a block of another rank: leading dimensions of size 1 are added or dropped."""
    rank = len(shape)
    return NvmmaShared(
        swizzlingByteWidth=layout.swizzlingByteWidth,
        transposed=layout.transposed,
        elementBitWidth=layout.elementBitWidth,
        fp4Padded=layout.fp4Padded,
        rank=rank,
        CGALayout=_fitted(layout.CGALayout, rank),
    )


def fits_tma(block: TensorType, nan: bool = False) -> str | None:
    """Why TMA does not support such blocks, None if it does; `nan`: out-of-bounds elements are NaN.

    >>> fits_tma(TensorType((64, 64), f16)), fits_tma(TensorType((64, 4), f16))
    (None, 'rows of 8 bytes are shorter than 16')
    """
    element = block.element
    if element_number(TensorDescType(TensorType(block.shape, element))) is None:
        return f"unsupported element type {element}"
    if not 1 <= block.rank <= 5:
        return f"tensors have 1 to 5 dimensions, not {block.rank}"
    row = block.shape[-1] * element.width // 8  # type: ignore[attr-defined]
    if row < MIN_ROW_BYTES:
        return f"rows of {row} bytes are shorter than {MIN_ROW_BYTES}"
    if nan and element not in _FLOATS:
        return f"only f16, bf16, f32 and f64 are filled with NaN, not {element}"
    return None


def _window(ty: TensorDescIm2ColType) -> TensorType:
    """The block of an im2col descriptor, with its layout."""
    return TensorType(ty.shape, ty.element, ty.sharedLayout)


def tensordesc_row(ty: Type) -> dict[str, Any]:
    """The data that a launch needs to encode a descriptor of this type: an entry of the metadata `tensordesc_meta`."""
    windows = not isinstance(ty, TensorDescType)
    block = _window(cast("TensorDescIm2ColType", ty)) if windows else cast(TensorDescType, ty).block
    layout: Any = block.encoding
    if layout is None:  # no access uses it
        layout = nvmma_for(block.shape, range(block.rank)[::-1], block.element.width)  # type: ignore[attr-defined]
    number = element_number(TensorDescType(block))
    assert number is not None
    padded = isinstance(layout, NvmmaShared) and layout.fp4Padded
    return {
        "swizzle": swizzle_number(layout),
        "elem_size": block.element.width // 8,  # type: ignore[attr-defined]
        "elem_type": number,
        "block_size": pixel_box(layout, block.shape) if windows else box_of(layout, block.shape),
        "fp4_padded": padded,
        "is_im2col": windows,
    }
