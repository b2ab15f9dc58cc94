"""Evaluation of tiles at an index: producers are emitted into the loop of their consumer.

`Evaluator.at(value, index)` gives the lanes of a tile at an index (one lane form a dimension). Values that have a
buffer are read from it; others are computed from their operands at the index those are needed at, which is where
broadcast, transposition, reshaping and the rest of the shape operations disappear: they only change the index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...analysis.affine import AffineForm, Affinity, Num
from ...dialects import arith, tt, ttc
from ...ir import (
    ELEMENTWISE,
    Operation,
    TensorType,
    Type,
    Value,
    VectorType,
    element_type,
    i1,
    i64,
)
from ...support import InternalError, UnsupportedOperation
from .buffers import TileBuffer
from .lanes import Guarded, Index, Lane, Strided, Uniform, Vec
from .writer import Writer

__all__ = ["EVALUATORS", "Evaluator", "base_of", "evaluates", "select_lanes", "stride_of", "zero_index"]

Handler = Callable[["Evaluator", Any, Index], Lane]
EVALUATORS: dict[type[Operation], Handler] = {}
"""How an operation's result is computed at an index, for ops that are not simply elementwise."""


def evaluates(*classes: type[Operation]) -> Callable[[Handler], Handler]:
    """Register the evaluation of op classes."""

    def register(fn: Handler) -> Handler:
        for cls in classes:
            EVALUATORS[cls] = fn
        return fn

    return register


class AccessChecker(Protocol):
    """Emits checks before accesses (`access.Sanitizer`)."""

    def check(
        self, ev: Evaluator, op: Operation, ptr: Lane, mask: Lane | None, index: Index, access: str, level: int
    ) -> None: ...


class PointerTile(Protocol):
    """Addresses chosen at run time (`overlap.StagedPointer`)."""

    def at(self, ev: Evaluator, index: Index) -> Lane: ...


class Evaluator:
    """Maps values of the tile program to the scalars and buffers that hold them, and emits the others on demand."""

    def __init__(self, writer: Writer, affinity: Affinity) -> None:
        self.w = writer
        self.affinity = affinity
        self.scalars: dict[Value, Value] = {}
        self.buffers: dict[Value, TileBuffer] = {}
        self.lanes = 1
        self.sanitizer: AccessChecker | None = None
        self.assumed: frozenset[Operation] = frozenset()  # comparisons known to hold here (versions.py)
        self.staged: dict[tt.Load, PointerTile] = {}  # loads that read through other pointers now (overlap.py)
        self.prefetched: frozenset[tt.Load] = frozenset()  # loads that prefetch here, and those
        self.streamed: set[tt.Load] = set()  # that did in an earlier loop (read_prefetch.py)

    def at(self, value: Value, index: Index) -> Lane:
        """The lanes of `value` at `index`; for a scalar value the index is ignored."""
        if not isinstance(value.type, TensorType):
            return Uniform(self.scalars[value], 0)
        lane = self._known(value, index)
        return self._chain(value, index) if lane is None else lane

    def _known(self, value: Value, index: Index) -> Lane | None:
        key = ("at", value, index, self.lanes)
        for level in self.w.levels:
            found = level.memo.get(key)
            if found is not None:
                return found
        return None

    def _chain(self, value: Value, index: Index) -> Lane:
        """The lanes of `value`; those of the elementwise operations it depends on are emitted first.

        An explicit stack, as unrolled loops make chains of thousands of them, deeper than Python's recursion limit.
        """
        waiting, entered = [value], set()
        while True:
            last = waiting[-1]
            lane = self._known(last, index)
            if lane is None:
                if last not in entered and self._is_elementwise(last):
                    entered.add(last)
                    operands = [v for v in last.defining_op.operands if isinstance(v.type, TensorType)]  # type: ignore[union-attr]
                    waiting += reversed(operands)
                    continue
                lane = self._compute(last, index)
                level = self.w.levels[min(max(lane.level, self.w.floor), self.w.depth)]
                level.memo["at", last, index, self.lanes] = lane
            waiting.pop()
            if not waiting:
                return lane

    def _is_elementwise(self, value: Value) -> bool:
        """Is it computed by an operation on its operands at the same index?"""
        op = value.defining_op
        if op is None or value in self.buffers or op in self.assumed or type(op) in EVALUATORS:
            return False
        return bool(op.traits & ELEMENTWISE) and len(op.results) == 1 and self.affinity.of(value) is None

    def _compute(self, value: Value, index: Index) -> Lane:
        buffer = self.buffers.get(value)
        if buffer is not None:
            return buffer.read(self.w, index, self.lanes)
        form = self.affinity.of(value)
        if form is not None:
            lane = self._from_affine(value, form, index)
            if lane is not None:
                return lane
        op = value.defining_op
        if op is None:
            raise InternalError("a block argument without a buffer")
        if op in self.assumed:
            return Uniform(self.w.number(1, i1), 0)
        if isinstance(op, tt.Split):
            half = Uniform(self.w.number(int(value is op.outRHS)), 0)
            return self.at(op.src, (*index, half))
        handler = EVALUATORS.get(type(op))
        if handler is not None:
            self.w.loc = op.loc
            return handler(self, op, index)
        if op.traits & ELEMENTWISE and len(op.results) == 1:
            return self._elementwise(op, index)
        raise UnsupportedOperation(op, "is not supported on the CPU")

    # -- affine values ----------------------------------------------------------------------------------------

    def _from_affine(self, value: Value, form: AffineForm, index: Index) -> Lane | None:
        if any(not isinstance(at, (Uniform, Strided)) for at in index):
            return None
        w, ty = self.w, form.type
        total, level = w.symbol(form.base, ty, self.scalars), 0
        lane_stride: int | Value = 0
        for at, stride in zip(index, form.strides, strict=True):
            if stride == Num(0):
                continue
            level = max(level, at.level)
            base = at.value if isinstance(at, Uniform) else at.base  # type: ignore[union-attr]
            step = w.symbol(stride, ty, self.scalars)
            moved = w.cast(base, ty, True, at.level)
            if stride != Num(1):
                moved = w.mul(moved, step, at.level)
            total = w.add(total, moved, level, wraps=form.pointer is None)
            if isinstance(at, Strided):
                lane_stride = self._plus(lane_stride, self._scaled(stride, step, at.stride), 0)
        if form.pointer is not None:
            pointer = self.scalars[form.pointer]
            total = w.place(tt.AddPtr(pointer, total), level)
        if isinstance(lane_stride, int) and lane_stride == 0:
            return Uniform(total, level)
        return Strided(total, lane_stride, level)

    def _scaled(self, stride: Any, step: Value, lane_step: int | Value) -> int | Value:
        assert isinstance(lane_step, int)
        if isinstance(stride, Num):
            return stride.value * lane_step
        return self.w.times(step, lane_step, 0)

    def _plus(self, a: int | Value, b: int | Value, level: int) -> int | Value:
        """The sum of two strides, neither of which depends on a loop deeper than `level`."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if isinstance(a, int):
            a, b = b, a
        assert isinstance(a, Value)
        if isinstance(b, int):
            return self.w.add(a, self.w.number(b, a.type), level, wraps=True) if b else a
        return self.w.add(a, b, level, wraps=True)

    # -- elementwise ------------------------------------------------------------------------------------------

    def _elementwise(self, op: Operation, index: Index) -> Lane:
        operands = [self.at(v, index) for v in op.operands]
        self.w.loc = op.loc
        special = _LANE_ARITHMETIC.get(type(op))
        if special is not None:
            lane = special(self, op, operands)
            if lane is not None:
                return lane
        return self.apply(op, operands, element_type(op.results[0].type))

    def apply(self, op: Operation, operands: list[Lane], element: Type) -> Lane:
        """The op on scalars if all operands are uniform, else on vectors."""
        level = max((o.level for o in operands), default=0)
        if all(isinstance(o, Uniform) for o in operands):
            values = [o.value for o in operands]  # type: ignore[union-attr]
            return Uniform(self.w.place(_copy(op, values, element), level), level)
        values = [self.w.vector(o, self.lanes) for o in operands]
        return Vec(self.w.place(_copy(op, values, VectorType((self.lanes,), element)), level), level)


def _copy(op: Operation, operands: list[Value], ty: Type) -> Operation:
    return type(op).create(operands, [ty], dict(op.attributes), loc=op.loc)  # type: ignore[attr-defined]


def zero_index(ev: Evaluator) -> Lane:
    """Coordinate 0: one object wherever it is known already, so that equal indices are one."""
    w = ev.w
    for level in w.levels[: w.floor + 1]:
        if "zero index" in level.memo:
            return level.memo["zero index"]
    zero = Uniform(w.number(0), 0)
    w.levels[w.floor].memo["zero index"] = zero
    return zero


# -- arithmetic that keeps strong forms ---------------------------------------------------------------------------

LaneArithmetic = Callable[[Evaluator, Any, "list[Lane]"], "Lane | None"]


def _guarded(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    """An operation on a guarded lane is the operation on its fast side, guarded."""
    i = next(k for k, lane in enumerate(lanes) if isinstance(lane, Guarded))
    guard = lanes[i]
    assert isinstance(guard, Guarded)
    if any(isinstance(lane, (Guarded, Vec)) for k, lane in enumerate(lanes) if k != i):
        return None
    fast = _strided(ev, op, [guard.fast if k == i else lane for k, lane in enumerate(lanes)])
    if not isinstance(fast, Strided):
        return None

    def slow() -> Lane:
        operands = [guard.slow() if k == i else lane for k, lane in enumerate(lanes)]
        pointer = _pointer_sum(ev, op, operands)
        return pointer if pointer is not None else ev.apply(op, operands, element_type(op.results[0].type))

    return Guarded(guard.condition, fast, slow, max(guard.level, fast.level))


def _strided(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    """Additions, multiplications and extensions of strided lanes are strided."""
    if any(isinstance(lane, Guarded) for lane in lanes):
        return _guarded(ev, op, lanes)
    if not any(isinstance(lane, Strided) for lane in lanes) or any(isinstance(lane, Vec) for lane in lanes):
        return None
    return _STRIDED[type(op)](ev, op, lanes)


def base_of(lane: Lane) -> Value:
    return lane.base if isinstance(lane, Strided) else lane.value  # type: ignore[union-attr]


def stride_of(lane: Lane) -> int | Value:
    return lane.stride if isinstance(lane, Strided) else 0


def _strided_add(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    a, b = lanes
    level = max(a.level, b.level)
    base = ev.w.place(arith.AddI(base_of(a), base_of(b)), level)
    return Strided(base, ev._plus(stride_of(a), stride_of(b), level), level)


def _strided_sub(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    a, b = lanes
    stride, other = stride_of(a), stride_of(b)
    if not isinstance(other, int) or not isinstance(stride, int):
        return None
    level = max(a.level, b.level)
    return Strided(ev.w.place(arith.SubI(base_of(a), base_of(b)), level), stride - other, level)


def _strided_mul(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    a, b = lanes if isinstance(lanes[0], Strided) else lanes[::-1]
    if isinstance(b, Strided):
        return None
    level = max(a.level, b.level)
    factor = base_of(b)
    constant = factor.defining_op.splat_value() if isinstance(factor.defining_op, arith.Constant) else None
    stride = stride_of(a)
    if isinstance(constant, int) and isinstance(stride, int):
        new: int | Value = stride * constant
    elif isinstance(stride, int):
        new = ev.w.times(factor, stride, b.level)
    else:
        new = ev.w.mul(stride, factor, level)
    return Strided(ev.w.mul(base_of(a), factor, level), new, level)


def _strided_extend(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    """Strided in the wider type too, unless a lane in the middle wraps around in the narrower one."""
    (a,) = lanes
    assert isinstance(a, Strided)
    if isinstance(op, arith.ExtUI):
        return None
    w, narrow, wide = ev.w, a.base.type, element_type(op.out.type)
    base = w.cast(a.base, wide, True, a.level)
    stride = a.stride if isinstance(a.stride, int) else w.cast(a.stride, wide, True, a.level)
    count = w.number(ev.lanes - 1, wide)
    span = w.number(stride * (ev.lanes - 1), wide) if isinstance(stride, int) else w.mul(stride, count, a.level)
    last = w.place(arith.AddI(base, span), a.level)
    again = w.cast(w.cast(last, narrow, True, a.level), wide, True, a.level)
    fits = w.place(arith.CmpI(arith.CmpIPredicate.eq, last, again), a.level)
    return Guarded(fits, Strided(base, stride, a.level), lambda: ev.apply(op, [a], wide), a.level)


def _strided_addptr(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    p, o = lanes
    level = max(p.level, o.level)
    offset = ev.w.cast(base_of(o), i64, True, o.level)
    step = stride_of(o)
    if not isinstance(step, int):
        step = ev.w.cast(step, i64, True, o.level)
    return Strided(ev.w.place(tt.AddPtr(base_of(p), offset), level), ev._plus(stride_of(p), step, level), level)


def _pointer_sum(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    """One base pointer and a vector of offsets."""
    if not isinstance(op, tt.AddPtr):
        return None
    p, o = lanes
    if isinstance(p, Vec) or not isinstance(o, Vec):
        return None
    level = max(p.level, o.level)
    offsets = ev.w.cast(o.value, i64, True, o.level)
    if isinstance(p, Strided):
        offsets = ev.w.add(offsets, ev.w.lane_offsets(p, ev.lanes, i64), level)
    return Vec(ev.w.place(ttc.OffsetPointer(base_of(p), offsets), level), level)


def _addptr(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    if any(isinstance(lane, Guarded) for lane in lanes):
        lane = _guarded(ev, op, lanes)
        if lane is not None:
            return lane
        lanes = [lane.slow() if isinstance(lane, Guarded) else lane for lane in lanes]
    return _strided(ev, op, lanes) or _pointer_sum(ev, op, lanes)


def _remainder(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    """(base + k) mod n: strided while base mod n + the last lane stays below n."""
    a, n = lanes
    if not isinstance(a, Strided) or a.stride != 1 or not isinstance(n, Uniform):
        return None
    w, ty = ev.w, element_type(op.result.type)
    level = max(a.level, n.level)
    start = w.place(type(op)(a.base, n.value), level)
    last = w.place(arith.AddI(start, w.number(ev.lanes - 1, ty)), level)
    inside = w.place(arith.CmpI(arith.CmpIPredicate.slt, last, n.value), level)
    end = w.place(arith.AddI(a.base, w.number(ev.lanes - 1, ty)), level)  # negative if it wraps around in its type
    ends = w.place(arith.OrI(a.base, end), level)
    positive = w.place(arith.CmpI(arith.CmpIPredicate.sge, ends, w.number(0, ty)), level)
    condition = w.place(arith.AndI(inside, positive), level)
    operands: list[Lane] = [a, n]
    return Guarded(condition, Strided(start, 1, level), lambda: ev.apply(op, operands, ty), level)


def select_lanes(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    """A scalar condition chooses whole vectors."""
    condition, a, b = lanes
    if not isinstance(condition, Uniform) or (isinstance(a, Uniform) and isinstance(b, Uniform)):
        return None
    level = max(lane.level for lane in lanes)
    chosen = arith.Select(condition.value, ev.w.vector(a, ev.lanes), ev.w.vector(b, ev.lanes))
    return Vec(ev.w.place(chosen, level), level)


_STRIDED: dict[type, LaneArithmetic] = {
    arith.AddI: _strided_add,
    arith.SubI: _strided_sub,
    arith.MulI: _strided_mul,
    arith.ExtSI: _strided_extend,
    arith.ExtUI: _strided_extend,
    tt.AddPtr: _strided_addptr,
}


def _and(ev: Evaluator, op: Any, lanes: list[Lane]) -> Lane | None:
    """x & true = x"""
    a, b = lanes
    if element_type(op.result.type) is i1:
        for x, y in ((a, b), (b, a)):
            constant = x.value.defining_op if isinstance(x, Uniform) else None
            if isinstance(constant, arith.Constant) and constant.splat_value() == 1:
                return y
    return None


_LANE_ARITHMETIC: dict[type, LaneArithmetic] = {
    arith.AddI: _strided,
    arith.SubI: _strided,
    arith.MulI: _strided,
    arith.ExtSI: _strided,
    arith.ExtUI: _strided,
    tt.AddPtr: _addptr,
    arith.RemSI: _remainder,
    arith.RemUI: _remainder,
    arith.Select: select_lanes,
    arith.AndI: _and,
}
