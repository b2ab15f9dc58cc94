"""Plans and scratch sizes of reductions, scans, histograms, gathers and atomics."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..dialects import tt
from ..dialects.tt_types import PointerType
from ..dialects.ttg_context import num_ctas
from ..dialects.ttg_maps import linear_layout_of
from ..ir import FloatType, IntegerType, Memory, MemoryAccess, Operation, TensorType, Type, element_type
from ..layout.axis import others_numbers
from ..layout.gather import Gathering, plan_gathering
from ..layout.reduction import Reduction, plan_reduction
from ..layout.scan import Scan, plan_scan
from ..support import UnsupportedOperation
from .combine import Order, combine_of

__all__ = [
    "array_offsets",
    "atomic_scratch",
    "gather_scratch",
    "gathering_of",
    "histogram_scratch",
    "reduce_scratch",
    "reduction_of",
    "scan_of",
    "scan_scratch",
    "shared_how",
]

_ALIGNMENT = 16  # bytes: the widest access


def _bytes(ty: Type) -> int:
    """Size of an element in shared memory; 1 for i1."""
    element = element_type(ty)
    if isinstance(element, (IntegerType, FloatType)):
        return max(1, element.width // 8)
    return 8 if isinstance(element, PointerType) else 4


def array_offsets(types: Iterable[Type], elements: int) -> list[int]:
    """Offsets in bytes of consecutive arrays with `elements` elements of each type; the last is their total size."""
    out = [0]
    for ty in types:
        size = -(-elements * _bytes(ty) // _ALIGNMENT) * _ALIGNMENT
        out.append(out[-1] + size)
    return out


def _total(types: Sequence[Type], elements: int) -> int:
    return array_offsets(types, elements)[-1] if elements else 0


@contextlib.contextmanager
def _explained(op: Any) -> Iterator[None]:
    """Report layouts without a plan as an error at the operation."""
    try:
        yield
    except ValueError as error:
        raise UnsupportedOperation(op, f"is not supported with these layouts: {error}") from None


def reduction_of(op: tt.Reduce) -> Reduction:
    """The plan of a reduction of tensors with layouts."""
    result = op.results[0].type
    target = linear_layout_of(result) if isinstance(result, TensorType) else None
    ordered = combine_of(op.combine.block).order is Order.ORDERED
    with _explained(op):
        return plan_reduction(linear_layout_of(op.srcs[0].type), op.axis, target, ordered)


def reduce_scratch(op: Any) -> int:
    """Bytes of scratch of a reduction across warps."""
    return _total([v.type for v in op.srcs], reduction_of(op).elements())


def scan_of(op: tt.Scan) -> Scan:
    """The plan of a scan of tensors with layouts."""
    with _explained(op):
        return plan_scan(linear_layout_of(op.srcs[0].type), op.axis)


def scan_scratch(op: Any) -> int:
    """Bytes of scratch of a scan across warps."""
    return _total([v.type for v in op.srcs], scan_of(op).elements())


def histogram_scratch(op: Any) -> int:
    """Bytes of scratch of a histogram: one 32-bit counter for each bin."""
    return 4 * op.result.type.shape[0]


def gathering_of(op: tt.Gather) -> Gathering:
    """The plan of a gather of tensors with layouts."""
    source, result = linear_layout_of(op.src.type), linear_layout_of(op.result.type)
    return plan_gathering(source, result, op.axis)


def gather_scratch(op: Any) -> int:
    """Bytes of scratch of a gather that moves elements between threads."""
    return _total([op.src.type], gathering_of(op).elements)


def shared_how(op: Any) -> str:
    """How the result of an atomic reaches all threads that use it.

    "none": it is unused, or local to each thread; "lanes": by warp shuffles; "memory": across warps, through shared
    memory; "cluster": across CTAs.
    """
    ty = op.result.type
    if not op.result.users:
        return "none"
    if not isinstance(ty, TensorType):
        return "cluster" if (num_ctas(op) or 1) > 1 else "memory"
    layout = linear_layout_of(ty)
    copies = layout.redundant()
    if copies.get("block") and not _changes_shared_memory(op):
        return "cluster"
    if copies["warp"]:
        return "memory"
    if not copies["lane"]:
        return "none"
    zeros = sum(1 << i for i, c in enumerate(layout.columns_of("lane")) if not c)
    return "lanes" if zeros == copies["lane"] else "memory"


def _changes_shared_memory(op: Operation) -> bool:
    """Whether an atomic changes memory of its CTA, where each CTA executes it for itself."""
    return isinstance(op, MemoryAccess) and any(access.memory is Memory.SHARED for access in op.accesses)


def atomic_scratch(op: Any) -> int:
    """Bytes of scratch through which the result of an atomic reaches the threads of other warps."""
    if shared_how(op) not in ("memory", "cluster"):
        return 0
    ty = op.result.type
    elements = 1
    if isinstance(ty, TensorType):
        elements = others_numbers(linear_layout_of(ty)).out_size()
    return _total([ty], elements)
