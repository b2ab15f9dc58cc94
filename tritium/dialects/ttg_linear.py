"""Layout attributes as linear layouts: which element each register of each thread, or each offset of memory, holds.

Two attributes may say the same in different words; as linear layouts they are one value. Operations that only rename
elements (transpose, reshape, split) have a result whose layout follows from the operand's in this form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..ir import Attribute
from ..layout import LinearLayout
from ..layout.distributed import blocked, dot_operand_fma, dot_operand_mma, linear, mma, slice_of
from ..layout.shared import nvmma_shared, swizzled_shared
from ..layout.tiling import dimension_names
from .ttg_layouts import Blocked, DotOperand, GenericLinear, Linear, NvidiaMma, Slice
from .ttg_memory import NvmmaShared, PaddedShared, SharedLinear, SwizzledShared

__all__ = ["linear_layout", "registers", "renamed_dims", "reshaped", "without_pairs"]

Shape = tuple[int, ...]


class _Unknown(ValueError):
    """A kind of layout that has no constructor as a linear layout yet."""


@functools.lru_cache(8192)
def linear_layout(shape: Shape, layout: Attribute) -> LinearLayout | None:
    """What `layout` means for a tensor (or buffer) of `shape`; None where it cannot be said."""
    try:
        return _of(shape, layout)
    except ValueError:
        return None


def _of(shape: Sequence[int], layout: Attribute) -> LinearLayout:
    make = _MAKERS.get(type(layout))
    if make is None:
        raise _Unknown(str(layout))
    return make(tuple(shape), layout)


def _of_blocked(shape: Shape, layout: Any) -> LinearLayout:
    return blocked(
        shape, layout.sizePerThread, layout.threadsPerWarp, layout.warpsPerCTA, layout.order, layout.CGALayout
    )


def _of_linear(shape: Shape, layout: Any) -> LinearLayout:
    return linear(shape, layout.register, layout.lane, layout.warp, layout.block)


def _of_slice(shape: Shape, layout: Any) -> LinearLayout:
    return slice_of(shape, layout.dim, lambda whole: _of(whole, layout.parent))


def _of_mma(shape: Shape, layout: Any) -> LinearLayout:
    return mma(shape, layout.versionMajor, layout.warpsPerCTA, layout.instrShape, layout.CGALayout)


def _of_operand(shape: Shape, layout: Any) -> LinearLayout:
    parent, operand = layout.parent, layout.opIdx
    k = len(shape) - 1 - operand
    blocks = [tuple(0 if d == k else n for d, n in enumerate(basis)) for basis in getattr(parent, "CGALayout", ())]
    if isinstance(parent, NvidiaMma):
        warps, instruction = parent.warpsPerCTA, parent.instrShape
        return dot_operand_mma(shape, operand, layout.kWidth, parent.versionMajor, warps, instruction, blocks)
    if isinstance(parent, Blocked):
        sizes = parent.sizePerThread, parent.threadsPerWarp, parent.warpsPerCTA
        return dot_operand_fma(shape, operand, *sizes, parent.order, blocks)
    raise _Unknown(str(layout))


def _of_swizzled(shape: Shape, layout: Any) -> LinearLayout:
    return swizzled_shared(shape, layout.vec, layout.perPhase, layout.maxPhase, layout.order, layout.CGALayout)


def _of_nvmma(shape: Shape, layout: Any) -> LinearLayout:
    swizzle, bits = layout.swizzlingByteWidth, layout.elementBitWidth
    return nvmma_shared(shape, swizzle, bits, layout.transposed, layout.fp4Padded, layout.CGALayout)


def _of_shared_linear(shape: Shape, layout: Any) -> LinearLayout:
    """Padding moves elements apart, but leaves them in their order."""
    sizes = dict(zip(dimension_names(len(shape)), shape))
    return LinearLayout({"offset": layout.offset, "block": layout.block}, sizes)


_MAKERS: dict[type, Callable[[Shape, Any], LinearLayout]] = {
    Blocked: _of_blocked,
    Linear: _of_linear,
    GenericLinear: _of_linear,
    Slice: _of_slice,
    NvidiaMma: _of_mma,
    DotOperand: _of_operand,
    SwizzledShared: _of_swizzled,
    NvmmaShared: _of_nvmma,
    SharedLinear: _of_shared_linear,
    PaddedShared: _of_shared_linear,
}


# -- what follows from a layout ------------------------------------------------------------------------------------


def renamed_dims(layout: LinearLayout, order: Sequence[int]) -> LinearLayout:
    """The layout of the tensor whose dimension k is dimension order[k] of this one's."""
    names = dimension_names(len(order))
    return layout.renamed({f"dim{d}": f"dim{k}" for k, d in enumerate(order)}).reordered(outs=names)


def reshaped(layout: LinearLayout, shape: Sequence[int]) -> LinearLayout:
    """The layout of the tensor of another shape that has the same elements in row-major order."""
    names = dimension_names(len(shape))
    flat = layout.reordered(outs=list(layout.outs)[::-1])  # the last dimension is the least significant
    return flat.reshaped(outs=dict(zip(names[::-1], shape[::-1]))).reordered(outs=names)


def without_pairs(layout: LinearLayout, axis: int) -> LinearLayout | None:
    """The layout of every second element along `axis`; None if no register tells neighbours there apart."""
    bases = layout.bases
    pair = tuple(int(d == axis) for d in range(len(layout.outs)))
    found = any(basis[axis] == 1 for basis in bases["register"])
    bases["register"] = [basis for basis in bases["register"] if basis[axis] != 1]
    if not found:
        return None
    halves = {
        name: [tuple(n // 2 if d == axis else n for d, n in enumerate(basis)) for basis in vectors]
        for name, vectors in bases.items()
    }
    outs = {name: max(size >> pair[d], 1) for d, (name, size) in enumerate(layout.outs.items())}
    return LinearLayout(halves, outs)


def registers(layout: LinearLayout) -> int:
    """How many different elements a thread holds."""
    return layout.without_zeros("register").ins["register"]
