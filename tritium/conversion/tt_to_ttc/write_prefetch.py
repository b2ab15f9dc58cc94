"""Prefetch of output cache lines for writing, in a loop whose arithmetic hides the latency.

    e = exp(x - max)        one loop: fills a scratch tile, sums it
    store(y, e / sum)       another: bound by the cache misses of y

A store to memory that is not in cache first reads the cache line (write allocation). When a tile that a reduction's
loop fills is only scaled and stored afterwards, that loop prefetches the lines of the store for writing. A prefetch
changes no result, and one beyond the end of an array is ignored.
"""

from __future__ import annotations

from ...analysis.affine import Cast, Leaf, Num, Product, Remainder, Sum, Sym
from ...dialects import tt, ttc
from ...ir import PURE, TRAPS, Operation, TensorType, Value, element_type
from .context import LoweringContext
from .lanes import Index, Strided

__all__ = ["prefetch_writes", "prefetchable_store"]

MIN_BYTES, MAX_BYTES = 4096, 16384
"""Smaller tiles gain nothing; of larger ones, input, scratch and output exceed L1 (softmax of 2048 columns gains a
fourth, of 4096 nothing or a little, of 8192 it would lose a fourth)."""


def prefetchable_store(lowering: LoweringContext, filled: list[Value], last: Operation | None) -> tt.Store | None:
    """The next store after `last` in its block that writes one of the tiles `filled`, element by element, if its
    address can be computed already."""
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
    if form is None or form.pointer is None or not MIN_BYTES <= bytes_stored <= MAX_BYTES:
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
    """True if a scalar is lowered already or can be lowered now: pure scalar operations may be hoisted."""
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


def prefetch_writes(lowering: LoweringContext, store: tt.Store, index: Index) -> None:
    """Prefetch the cache lines that `store` writes at `index`."""
    lane = lowering.ev.at(store.ptr, index)
    if isinstance(lane, Strided) and lane.stride == 1:
        lowering.ev.w.place(ttc.Prefetch(lane.base))
