"""What the layouts of the ttg dialect mean: each attribute, for a tensor of a shape, as a linear layout.

Lowerings ask for the map and nothing else; only here is it asked which kind of layout an attribute is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..ir import Attribute, TensorType, Type, shape_of
from ..layout import LinearLayout, amd, shared
from ..layout import distributed as registers
from ..layout.bases import order_of_bases
from ..layout.tiling import dimension_names, fit
from .ttg_layouts import AmdMfma, AmdWmma, Blocked, DotOperand, GenericLinear, Linear, NvidiaMma, Slice
from .ttg_memory import AmdRotatingShared, NvmmaShared, PaddedShared, SharedLinear, SwizzledShared

__all__ = ["holders", "linear_layout", "linear_layout_of", "map_or_none"]

Shape = tuple[int, ...]


@functools.lru_cache(4096)
def linear_layout(layout: Attribute, shape: Shape) -> LinearLayout:
    """The map of `layout` for a tensor or buffer of `shape`.

    From `register`, `lane`, `warp`, `block` (layouts of registers) or `offset`, `block` (of shared memory, in elements,
    without padding) to `dim0`, `dim1`, …. `ValueError` for a layout that has no map here, or not for this shape.
    """
    make = _MAPS.get(type(layout))
    if make is None:
        name = getattr(layout, "name", layout)
        raise ValueError(f"the map of the layout {name} is not known")
    rank = layout.rank  # type: ignore[attr-defined]
    if rank != len(shape):
        raise ValueError(f"a layout of {rank} dimensions for a tensor of {len(shape)}: {layout}")
    return make(layout, shape)


def map_or_none(layout: Attribute, shape: Shape) -> LinearLayout | None:
    """The linear layout, or None if it is unknown: for layouts of other vendors, or without an instruction."""
    try:
        return linear_layout(layout, shape)
    except (ValueError, IndexError, ZeroDivisionError):  # the attribute may hold what no instruction has
        return None


def linear_layout_of(ty: Type) -> LinearLayout:
    """The map of the layout that a tensor or buffer type has; of a buffer's leading copies only one is described."""
    layout: Any = ty.encoding  # type: ignore[attr-defined]
    if layout is None:
        raise ValueError(f"{ty} has no layout")
    shape = shape_of(ty)
    return linear_layout(layout, shape if isinstance(ty, TensorType) else shape[-layout.rank :])


def _blocked(a: Blocked, shape: Shape) -> LinearLayout:
    return registers.blocked(shape, a.sizePerThread, a.threadsPerWarp, a.warpsPerCTA, a.order, a.CGALayout)


def _linear(a: Linear | GenericLinear, shape: Shape) -> LinearLayout:
    order = order_of_bases(a.register, a.rank)
    return registers.linear(shape, a.register, a.lane, a.warp, a.block, order)


def _slice(a: Slice, shape: Shape) -> LinearLayout:
    return registers.slice_of(shape, a.dim, lambda whole: linear_layout(a.parent, tuple(whole)))


def _mma(a: NvidiaMma, shape: Shape) -> LinearLayout:
    return registers.mma(shape, a.versionMajor, a.warpsPerCTA, a.instrShape, a.CGALayout)


def _mfma(a: AmdMfma, shape: Shape) -> LinearLayout:
    tiles = a.tilesPerWarp, a.elementBitWidth, a.CGALayout
    return amd.mfma(shape, a.warpsPerCTA, a.instrShape, a.isTransposed, *tiles)


def _wmma(a: AmdWmma, shape: Shape) -> LinearLayout:
    return amd.wmma(shape, a.version, a.ctaLayout, a.instrShape, a.isTranspose, a.CGALayout)


def _dot_operand(a: DotOperand, shape: Shape) -> LinearLayout:
    parent: Any = a.parent
    k = len(shape) - 1 if a.opIdx == 0 else len(shape) - 2
    blocks = [[0 if d == k else n for d, n in enumerate(v)] for v in parent.CGALayout]
    if isinstance(parent, Blocked):
        sizes = parent.sizePerThread, parent.threadsPerWarp, parent.warpsPerCTA, parent.order
        return registers.dot_operand_fma(shape, a.opIdx, *sizes, blocks)
    if isinstance(parent, NvidiaMma):
        rest = parent.versionMajor, parent.warpsPerCTA, parent.instrShape, blocks
        return registers.dot_operand_mma(shape, a.opIdx, a.kWidth, *rest)
    if isinstance(parent, AmdMfma):
        warps = parent.warpsPerCTA, parent.instrShape, parent.tilesPerWarp
        return amd.dot_operand_mfma(shape, a.opIdx, a.kWidth, *warps, blocks)
    if isinstance(parent, AmdWmma):
        tiles = parent.version, parent.ctaLayout, parent.instrShape, parent.isTranspose
        return amd.dot_operand_wmma(shape, a.opIdx, a.kWidth, *tiles, blocks)
    raise ValueError(f"the map of an operand of {type(parent).name} is not known")


def _swizzled(a: SwizzledShared | AmdRotatingShared, shape: Shape) -> LinearLayout:
    rotating = isinstance(a, AmdRotatingShared)
    return shared.swizzled_shared(shape, a.vec, a.perPhase, a.maxPhase, a.order, a.CGALayout, rotating)


def _nvmma(a: NvmmaShared, shape: Shape) -> LinearLayout:
    width = a.elementBitWidth
    return shared.nvmma_shared(shape, a.swizzlingByteWidth, width, a.transposed, a.fp4Padded, a.CGALayout)


def _offsets(a: SharedLinear | PaddedShared, shape: Shape) -> LinearLayout:
    """The bases are those of a whole tensor; a larger one has more bases at the end."""
    names = dimension_names(len(shape))
    whole = LinearLayout({"offset": a.offset, "block": a.block}, dict(zip(names, a.shape)))
    return whole if tuple(a.shape) == shape else fit(whole.sublayout(["offset"]), shape)


_MAPS: dict[type, Callable[[Any, Shape], LinearLayout]] = {
    Blocked: _blocked,
    Linear: _linear,
    GenericLinear: _linear,
    Slice: _slice,
    NvidiaMma: _mma,
    AmdMfma: _mfma,
    AmdWmma: _wmma,
    DotOperand: _dot_operand,
    SwizzledShared: _swizzled,
    AmdRotatingShared: _swizzled,
    NvmmaShared: _nvmma,
    SharedLinear: _offsets,
    PaddedShared: _offsets,
}


def holders(layout: LinearLayout, shape: Sequence[int]) -> dict[tuple[int, ...], list[dict[str, int]]]:
    """For each element of a tensor, the places that hold it, in the order of their numbers."""
    out: dict[tuple[int, ...], list[dict[str, int]]] = {}
    sizes = layout.ins
    for number in range(layout.size()):
        place = {}
        rest = number
        for name, size in sizes.items():
            rest, place[name] = divmod(rest, size)
        out.setdefault(tuple(layout.apply(**place).values()), []).append(place)
    return out
