"""Asking for the lines of an output early, while there is arithmetic to hide the wait behind.

    e = exp(x - max)        one loop: fills a scratch tile, sums it
    store(y, e / sum)       another: nothing to do but wait for the lines of y

A store to memory that is not in cache first reads the line it goes to. When a tile that a reduction's loop fills is
only scaled and stored afterwards, that loop prefetches the store's lines for writing. A hint changes no result, and one
beyond the end of an array is ignored by the processor.
"""

from __future__ import annotations

from ...analysis.affine import Cast, Leaf, Num, Product, Remainder, Sum, Sym
from ...dialects import tt, ttc
from ...ir import PURE, TRAPS, Operation, TensorType, Value, element_type
from .context import LoweringContext
from .lanes import Index, Strided

__all__ = ["prefetch", "store_of"]

LEAST_BYTES, MOST_BYTES = 4096, 16384
"""Smaller tiles are in the first cache after a glance; of larger ones, input, scratch and output do not fit it together
(softmax of 2048 columns gains a fourth, of 4096 nothing or a little, of 8192 it would lose a fourth)."""


def store_of(lowering: LoweringContext, filled: list[Value], last: Operation | None) -> tt.Store | None:
    """The next store after `last` in its block that writes one of the tiles `filled`, element by element, if its
    address can be reckoned already."""
    at = last.next if last is not None else None
    while at is not None and not isinstance(at, tt.Store):
        if at.regions and not isinstance(at, tt.Reduce):
            return None
        at = at.next
    if at is None or not isinstance(at.ptr.type, TensorType):
        return None
    form = lowering.plan.affinity.of(at.ptr)
    identity = tuple(range(at.ptr.type.rank))
    bytes_stored = at.ptr.type.numel * getattr(element_type(at.value.type), "width", 64) // 8
    if form is None or form.pointer is None or not LEAST_BYTES <= bytes_stored <= MOST_BYTES:
        return None
    if not any((v, identity) in lowering.plan.accesses([at.value]) for v in filled):
        return None
    leaves = [form.pointer, *(leaf for s in (form.base, *form.strides) for leaf in _leaves(s))]
    return at if all(_available(lowering, leaf, 0) for leaf in leaves) else None


def _leaves(s: Sym) -> list[Value]:
    if isinstance(s, Leaf):
        return [s.value]
    if isinstance(s, Num):
        return []
    if isinstance(s, Cast):
        return _leaves(s.a)
    assert isinstance(s, (Sum, Product, Remainder))
    return _leaves(s.a) + _leaves(s.n if isinstance(s, Remainder) else s.b)


def _available(lowering: LoweringContext, value: Value, depth: int) -> bool:
    """True when a scalar exists, or now does: pure operations on scalars may be done ahead of their turn."""
    if value in lowering.ev.scalars:
        return True
    op = value.defining_op
    if op is None or depth > 8 or op.regions or not op.traits & PURE or op.traits & TRAPS:
        return False
    if any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
        return False
    if not all(_available(lowering, v, depth + 1) for v in op.operands):
        return False
    lowering.ev.w.place(op.clone(lowering.ev.scalars))
    return True


def prefetch(lowering: LoweringContext, store: tt.Store, index: Index) -> None:
    """Ask for the lines that `store` will write at `index`."""
    lane = lowering.ev.at(store.ptr, index)
    if isinstance(lane, Strided) and lane.stride == 1:
        lowering.ev.w.place(ttc.Prefetch(lane.base))
