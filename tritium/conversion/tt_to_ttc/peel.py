"""Loop peeling: loops split where a mask starts to exclude elements.

    for i in 0, L, … N: load(p + i, mask = i + iota < n)

becomes a loop over whole chunks without a mask, up to the last multiple of L below n, and a masked loop over the rest.
Masked loads cost more than their instructions: streaming rows through them took twice as long (softmax 4096 x 4096
on Zen 5, one thread: 0.66 ns an element instead of 0.36, 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...dialects import arith
from ...ir import Operation, Value, i32, i64
from ...support.dataclasses import dataclass
from .context import LoweringContext
from .evaluate import Evaluator
from .space import Space

__all__ = ["Peel", "peel_for"]


@dataclass(frozen=True)
class Peel:
    """`limit` (i64) elements along the vector axis satisfy all comparisons `assumed`; the rest are masked."""

    limit: Value
    assumed: frozenset[Operation]

    def split(self, ev: Evaluator, first: int, extent: int, step: int) -> Value:
        """Where the second loop starts: a multiple of `step` from `first` on, as i32."""
        w = ev.w
        low, high = w.number(first, i64), w.number(extent, i64)
        limit = w.place(arith.MinSI(w.place(arith.MaxSI(self.limit, low)), high))
        whole = w.place(arith.AndI(limit, w.number(-step, i64)))
        return w.cast(w.place(arith.MaxSI(whole, low)), i32)

    @contextmanager
    def holding(self, ev: Evaluator) -> Iterator[None]:
        """Assume the comparisons in this context."""
        before, ev.assumed = ev.assumed, ev.assumed | self.assumed
        yield
        ev.assumed = before


def peel_for(lowering: LoweringContext, values: list[Value], space: Space, computing: tuple[Value, ...]) -> Peel | None:
    """How to peel the loops over `values` along their vector axis, or None if impossible or unprofitable."""
    ev, plan = lowering.ev, lowering.plan
    if space.axis < 0 or ev.sanitizer is not None or space.shape[space.axis] < 4 * space.lanes:
        return None
    bounds = plan.peelable(values, space.axis, computing)
    if not bounds:
        return None
    w, limit = ev.w, None
    for op in bounds:
        assert isinstance(op, arith.CmpI)
        x, y = plan.affinity.of(op.lhs), plan.affinity.of(op.rhs)
        assert x is not None and y is not None
        a, b = (w.cast(w.symbol(f.base, f.type, ev.scalars), i64, True, 0) for f in (x, y))
        count = w.place(arith.SubI(b, a))
        if op.predicate == arith.CmpIPredicate.sle:
            count = w.place(arith.AddI(count, w.number(1, i64)))
        limit = count if limit is None else w.place(arith.MinSI(limit, count))
    assert limit is not None
    return Peel(limit, frozenset(bounds))
