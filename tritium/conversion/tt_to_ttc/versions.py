"""Loop versioning: a fast version of a loop nest for the usual case, and a general one.

The conditions that prevent plain vector code are nearly always false, and can be tested before the loop:

- a mask `offsets < n` that cuts nothing off, as in all programs but the last of a grid;
- a sum that wraps around before it is extended to 64 bits;
- a remainder `(start + arange) % n` that does not wrap around within the tile;
- a load that overlaps the store of its loop otherwise than element by element (`overlap.py`).

If none of them holds, the nest runs without masks, with affine addresses and without copies. Plain stores of whole
cache lines also avoid reading them first: a vector add of 2^24 elements took 7.4 ms
instead of 11.4 (Zen 5, 2026-11).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ...analysis.affine import Num, Remainder
from ...dialects import arith, scf, tt
from ...ir import IntegerType, Operation, TensorType, Value, i64
from .context import LoweringContext
from .overlap import conflicts, staged_loads
from .peel import Peel, peel_for
from .plan import BOUND_SIDES
from .space import Space

__all__ = ["versioned"]

SMALL = 4
"""A nest of fewer vectors than this is written once."""


def versioned(
    lowering: LoweringContext,
    values: list[Value],
    space: Space,
    emit: Callable[[Peel | None], None],
    computing: tuple[Value, ...] = (),
    store: tt.Store | None = None,
) -> None:
    """Emit the nest of `emit`, which computes `values` over `space`; in two versions if profitable.

    Where masks along the vector axis are all there is, the loop is peeled instead (`peel.py`): `emit` gets the peel.
    """
    plan, ev = lowering.plan, lowering.ev
    overlaps = conflicts(lowering, store) if store is not None else []
    remainders: dict[Operation, bool] = {}
    extensions: list[Operation] = []
    bounds: list[Operation] = []
    if space.axis >= 0 and ev.sanitizer is None and prod(space.shape) >= SMALL * space.lanes:
        remainders = plan.remainders(values, space.axis, computing)
        extensions = plan.extensions(values, computing)
        bounds = plan.bounds(values, computing)
    slower = any(remainders.values()) or bool(extensions)
    peel = None if slower else peel_for(lowering, values, space, computing)
    if peel is not None:
        bounds = []
    if not slower and not bounds:
        with staged_loads(lowering, overlaps):
            emit(peel)
        return
    w = ev.w
    conditions = [_does_not_wrap(lowering, op) for op in remainders]
    conditions += [_keeps_range(lowering, op.operands[0]) for op in extensions]
    conditions += [_holds_everywhere(lowering, op) for op in bounds]
    yes = w.number(1, conditions[0].type)
    conditions += [w.place(arith.XOrI(overlap.conflict, yes)) for overlap in overlaps]
    usual = conditions[0]
    for condition in conditions[1:]:
        usual = w.place(arith.AndI(usual, condition))
    branch = w.branch(usual)
    strict = ev.affinity
    ev.affinity, ev.assumed = plan.hopeful, frozenset(bounds)
    with w.conditional(branch.then_block, branch):
        emit(None)
        w.place(scf.Yield([]))
    ev.affinity, ev.assumed = strict, frozenset()
    assert branch.else_block is not None
    with w.conditional(branch.else_block, branch), staged_loads(lowering, overlaps):
        emit(None)
        w.place(scf.Yield([]))


def _does_not_wrap(lowering: LoweringContext, op: Operation) -> Value:
    """i1: the tile of a remainder lies between two multiples of its divisor, and within its type."""
    w, scalars = lowering.ev.w, lowering.ev.scalars
    x, n = (lowering.plan.hopeful.of(v) for v in op.operands)
    assert x is not None and n is not None
    ty, shape = x.type, op.operands[0].type.shape  # type: ignore[attr-defined]
    span = sum((size - 1) * _number(s) for size, s in zip(shape, x.strides))
    base, divisor = w.symbol(x.base, ty, scalars), w.symbol(n.base, ty, scalars)
    start = w.symbol(Remainder(x.base, n.base, isinstance(op, arith.RemSI)), ty, scalars)
    last = w.place(arith.AddI(start, w.number(span, ty)))
    inside = w.place(arith.CmpI(arith.CmpIPredicate.slt, last, divisor))
    ends = w.place(arith.OrI(base, w.place(arith.AddI(base, w.number(span, ty)))))  # negative if either end is
    positive = w.place(arith.CmpI(arith.CmpIPredicate.sge, ends, w.number(0, ty)))
    return w.place(arith.AndI(inside, positive))


def _number(s: object) -> int:
    assert isinstance(s, Num)
    return s.value


def _keeps_range(lowering: LoweringContext, value: Value) -> Value:
    """i1: no element of an affine tile of integers leaves the range of its type; reckoned in 64 bits."""
    w, scalars = lowering.ev.w, lowering.ev.scalars
    f = lowering.plan.hopeful.of(value)
    assert f is not None and isinstance(f.type, IntegerType) and isinstance(value.type, TensorType)
    low = high = w.cast(w.symbol(f.base, f.type, scalars), i64, True, 0)
    zero = w.number(0, i64)
    for n, s in zip(value.type.shape, f.strides):
        if n == 1 or s == Num(0):
            continue
        span = w.mul(w.cast(w.symbol(s, f.type, scalars), i64, True, 0), w.number(n - 1, i64), 0)
        low = w.place(arith.AddI(low, w.place(arith.MinSI(span, zero))))
        high = w.place(arith.AddI(high, w.place(arith.MaxSI(span, zero))))
    half = 1 << (min(f.type.width, 62) - 1)
    above = w.place(arith.CmpI(arith.CmpIPredicate.sge, low, w.number(-half, i64)))
    below = w.place(arith.CmpI(arith.CmpIPredicate.slt, high, w.number(half, i64)))
    return w.place(arith.AndI(above, below))


def _holds_everywhere(lowering: LoweringContext, op: Operation) -> Value:
    """i1: an affine comparison holds for the element where it is tightest; reckoned in 64 bits."""
    assert isinstance(op, arith.CmpI)
    w, scalars = lowering.ev.w, lowering.ev.scalars
    x, y = (lowering.plan.hopeful.of(v) for v in op.operands)
    assert x is not None and y is not None and isinstance(op.lhs.type, TensorType)
    side = BOUND_SIDES[op.predicate]
    steps = [_number(a) - _number(b) for a, b in zip(x.strides, y.strides)]
    span = sum(side * max(side * step, 0) * (n - 1) for step, n in zip(steps, op.lhs.type.shape))
    a, b = (w.cast(w.symbol(f.base, f.type, scalars), i64, True, 0) for f in (x, y))
    holds = w.place(arith.CmpI(op.predicate, w.add(a, w.number(span, i64), 0), b))
    for operand, f, direction in ((op.lhs, x, side), (op.rhs, y, -side)):  # ends that the comparison does not bound
        if any(direction * _number(s) < 0 for s in f.strides):
            holds = w.place(arith.AndI(holds, _keeps_range(lowering, operand)))
    return holds
