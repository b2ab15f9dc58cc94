"""Asking for lines of an input long before they are read.

    for i in 0, 64, … N: total += load(p + i)        and: prefetch(p + i + 4096)

A processor fetches ahead of loads by itself, but only within a page, and the look-up of the next page's address begins
when its first load does. A loop that does nothing but read long runs of memory for the first time in its program asks
for a line in four, pages ahead, into the second cache: that starts both. (Programs run in order, so behind the end of a
run mostly lies what the next program reads.) A hint changes no result, and one beyond the end of an array is ignored.

Sums of 4096 rows of 4096 floats (Zen 4, 2026-11, in C, pages of 4 KiB, a busy machine): 3.7 ms without, 2.8 asking
8 KiB ahead, 2.1 to 2.3 asking 16 to 64 KiB ahead, 3.3 if into the first cache. 64 rows of 65536, from the third cache:
0.25 and 0.21 ms. What lies in the second anyway takes 3 % longer.
"""

from __future__ import annotations

from ...analysis.affine import Num
from ...dialects import tt, ttc
from ...ir import TensorType, Value, element_type, i64
from .context import LoweringContext
from .evaluate import Evaluator
from .space import Space

__all__ = ["BYTES_EACH", "element_bytes", "prefetch_ahead", "streams_of"]

BYTES_AHEAD = 16384
BYTES_EACH = 256
"""Of a run, for which one line is asked."""
LEAST_BYTES = 4096
"""Shorter runs lie in pages with others, or in no order that is known."""


def element_bytes(ptr: Value) -> int:
    """How many bytes an element takes that a tile of pointers points to."""
    return max(1, getattr(element_type(ptr.type).pointee, "width", 64) // 8)


def streams_of(
    lowering: LoweringContext, values: list[Value], space: Space, computing: tuple[Value, ...]
) -> frozenset[tt.Load]:
    """The loads in loops over `values` that read long runs along the vector axis and stand in no loop before."""
    if space.axis < 0 or lowering.ev.sanitizer is not None:
        return frozenset()
    found = set()
    for v, dims in lowering.plan.accesses(values, computing):
        op = v.defining_op
        if (
            not isinstance(op, tt.Load)
            or op.isVolatile
            or lowering.plan.leaf(v, computing)
            or op in lowering.ev.streamed
        ):
            continue
        if isinstance(op.ptr.type, TensorType) and space.axis in dims:
            along = lowering.plan.affinity.stride_along(op.ptr, dims.index(space.axis))
            if along == Num(1) and space.shape[space.axis] * element_bytes(op.ptr) >= LEAST_BYTES:
                found.add(op)
    lowering.ev.streamed |= found
    return frozenset(found)


def prefetch_ahead(ev: Evaluator, op: tt.Load, base: Value, level: int) -> None:
    """Ask for the line that a loop over `op` reads some iterations after the one at `base`."""
    ahead = ev.w.number(BYTES_AHEAD // element_bytes(op.ptr), i64)
    ev.w.place(ttc.Prefetch(ev.w.place(tt.AddPtr(base, ahead), level), to_read=True), level)
