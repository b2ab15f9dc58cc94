"""Which operations access shared memory of other CTAs of a cluster."""

from __future__ import annotations

from ..dialects import ttg
from ..dialects.ttg_maps import linear_layout
from ..dialects.ttg_memory import MemDescType, Shared
from ..ir import BufferAccess, Operation, Type
from ..layout import LinearLayout

__all__ = ["accesses_other_ctas", "is_cut_between_ctas"]


def _whole(ty: MemDescType) -> LinearLayout:
    """The map of the allocation that a buffer is part of."""
    layout = ty.encoding
    assert isinstance(layout, Shared)
    return linear_layout(layout, ty.allocShape[-layout.rank :])


def is_cut_between_ctas(ty: Type) -> bool:
    """Whether a buffer is part of an allocation that CTAs of a cluster share, and may be in one of them only."""
    if not isinstance(ty, MemDescType):
        return False
    rank = len(ty.shape)
    if ty.shape == ty.allocShape[-rank:]:
        return False
    cut = [n != whole for n, whole in zip(ty.shape, ty.allocShape[-rank:])]
    first = rank - len(_whole(ty).outs)
    return any(n and cut[first + d] for basis in _whole(ty).bases.get("block", ()) for d, n in enumerate(basis))


def accesses_other_ctas(op: Operation) -> bool:
    """Whether an operation may access elements that other CTAs of the cluster hold.

    Loads and stores of whole buffers stay in their CTA (`store-in-own-cta`).
    """
    if isinstance(op, ttg.LocalGather):
        return _is_distributed(op.src.type)
    if isinstance(op, (ttg.LocalScatter, ttg.LocalAtomicScatterRmw)):
        return _is_distributed(op.dst.type)
    return isinstance(op, BufferAccess) and any(is_cut_between_ctas(value.type) for value in op.operands)


def _is_distributed(ty: Type) -> bool:
    """Whether CTAs of a cluster hold different elements of a buffer."""
    return isinstance(ty, MemDescType) and any(any(basis) for basis in _whole(ty).bases.get("block", ()))
