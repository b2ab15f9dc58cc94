"""The shared memory in which threads combine what they have: reductions, scans, histograms, gathers, atomics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..dialects import tt
from ..dialects.tt_types import PointerType
from ..dialects.ttg_maps import linear_layout_of
from ..ir import FloatType, IntegerType, TensorType, Type, element_type
from ..layout.reduction import Reduction, plan_reduction
from .combine import Order, combine_of
from .scratch import scratch_of

__all__ = ["array_offsets", "reduction_of"]

_ALIGNMENT = 16  # bytes: the widest access


def _bytes(ty: Type) -> int:
    """Of an element in shared memory; i1 takes one."""
    element = element_type(ty)
    if isinstance(element, (IntegerType, FloatType)):
        return max(1, element.width // 8)
    return 8 if isinstance(element, PointerType) else 4


def array_offsets(types: Iterable[Type], elements: int) -> list[int]:
    """Where arrays of as many elements of each type start, one behind the other; the last number is where they end."""
    out = [0]
    for ty in types:
        size = -(-elements * _bytes(ty) // _ALIGNMENT) * _ALIGNMENT
        out.append(out[-1] + size)
    return out


def _total(types: Sequence[Type], elements: int) -> int:
    return array_offsets(types, elements)[-1] if elements else 0


def reduction_of(op: tt.Reduce) -> Reduction:
    """The plan of a reduction of tensors with layouts."""
    result = op.results[0].type
    target = linear_layout_of(result) if isinstance(result, TensorType) else None
    ordered = combine_of(op.combine.block).order is Order.ORDERED
    return plan_reduction(linear_layout_of(op.srcs[0].type), op.axis, target, ordered)  # type: ignore[arg-type]


@scratch_of(tt.Reduce)
def _reduce(op: Any) -> int:
    return _total([v.type for v in op.srcs], reduction_of(op).elements())
