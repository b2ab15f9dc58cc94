"""Run-time checks of overlap between a store and the loads inlined into its loop.

In the tile program the whole load precedes the whole store. In one loop, an element may be loaded after it was stored.
That is harmless if both access the same address at the same index, or different memory, which is nearly always so but
known only at run time. So the address ranges are compared before the loop (about ten scalar instructions per program),
and if they overlap otherwise, the tile is first copied to scratch memory and the loop reads it there: the same loop,
with other pointers and strides.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...analysis.affine import AffineForm, Num
from ...dialects import arith, scf, tt, ttc
from ...ir import TensorType, Value, i64
from ...support.dataclasses import dataclass
from .buffers import TileBuffer, stored_type
from .context import LoweringContext
from .evaluate import Evaluator
from .lanes import Index, Lane, Strided, Uniform, Vec, pointee_type, tile_type
from .nests import run_nest
from .space import Space
from .writer import Writer

__all__ = ["Overlap", "StagedPointer", "conflicts", "staged_loads"]


@dataclass(frozen=True)
class StagedPointer:
    """Where an inlined load reads: `base` + the sum of strides[d] * i_d elements, chosen at run time."""

    base: Value
    strides: tuple[int | Value, ...]

    def at(self, ev: Evaluator, index: Index) -> Lane:
        """The pointer lanes at `index`."""
        if not _is_strided(index):
            return self._scattered(ev, index)
        w, level = ev.w, 0
        total, lane_stride = w.number(0, i64), 0
        for at, stride in zip(index, self.strides, strict=True):
            assert isinstance(at, (Uniform, Strided))
            level = max(level, at.level)
            first = w.cast(at.value if isinstance(at, Uniform) else at.base, i64, True, at.level)
            step = w.number(stride, i64) if isinstance(stride, int) else stride
            total = w.add(total, first if stride == 1 else w.mul(first, step, at.level), level)
            if isinstance(at, Strided):
                lane_stride = stride  # type: ignore[assignment]
        base = w.place(tt.AddPtr(self.base, total), level)
        return (
            Uniform(base, level)
            if isinstance(lane_stride, int) and lane_stride == 0
            else Strided(base, lane_stride, level)
        )

    def _scattered(self, ev: Evaluator, index: Index) -> Lane:
        """The pointer lanes at coordinates without one stride: those of `cat` and of reshapes of small tiles."""
        w, level = ev.w, 0
        total = w.splat(w.number(0, i64), ev.lanes, 0)
        for at, stride in zip(index, self.strides, strict=True):
            level = max(level, at.level)
            offsets = w.cast(w.vector(at, ev.lanes), i64, True, at.level)
            if isinstance(stride, int):
                offsets = w.times_vector(offsets, stride, at.level)
            else:
                offsets = w.mul(offsets, w.splat(stride, ev.lanes, 0), at.level)
            total = w.add(total, offsets, level)
        return Vec(w.place(ttc.OffsetPointer(self.base, total), level), level)


@dataclass(frozen=True, eq=False)
class Overlap:
    """A load in the loop of a store, and the scalar i1 `conflict` that says whether it must be done before."""

    load: tt.Load
    conflict: Value
    range: _Range


def _is_strided(index: Index) -> bool:
    """Are the coordinates scalars, but for at most one whose lanes are neighbours?"""
    moving = [at for at in index if not isinstance(at, Uniform)]
    return not moving or (len(moving) == 1 and isinstance(moving[0], Strided) and moving[0].stride == 1)


def conflicts(lowering: LoweringContext, op: tt.Store) -> list[Overlap]:
    """Compare the addresses of `op` with those of each load that its loop performs."""
    found = []
    loads = _inlined_loads(lowering, op)
    if loads:
        other = lowering.plan.affinity.of(op.ptr)
        assert other is not None
        theirs = _Range(lowering.ev, other, _shape(op), op.ptr)
        for load, aligned in loads.items():
            form, shape = lowering.plan.affinity.of(load.ptr), tile_type(load.ptr).shape
            assert form is not None
            mine = _Range(lowering.ev, form, shape, load.ptr)
            found.append(Overlap(load, mine.meets(theirs, aligned and shape == _shape(op)), mine))
    return found


@contextmanager
def staged_loads(lowering: LoweringContext, overlaps: list[Overlap]) -> Iterator[None]:
    """Make the loads read memory as it was before the loop: from a copy, if they conflict with its store."""
    ev = lowering.ev
    staged = _stage(lowering, overlaps) if overlaps else {}
    ev.staged.update(staged)
    yield
    for load in staged:
        del ev.staged[load]


def _inlined_loads(lowering: LoweringContext, op: tt.Store) -> dict[tt.Load, bool]:
    """The loads that the loop of `op` performs and that may meet its stores, in program order.

    True for those that are only read at the index of the store: not transposed, reshaped or selected from on the way.
    """
    plan = lowering.plan
    found: dict[tt.Load, bool] = {}
    store_form = plan.affinity.of(op.ptr)
    values = [v for v in op.operands if isinstance(v.type, TensorType)]
    for v, dims in plan.accesses(values):
        load = v.defining_op
        if not isinstance(load, tt.Load) or not isinstance(v.type, TensorType) or v in plan.buffered:
            continue
        form = plan.affinity.of(load.ptr)
        aligned = dims == tuple(range(len(_shape(op))))
        if form is None or (aligned and (load.ptr is op.ptr or form == store_form)):
            continue
        found[load] = found.get(load, True) and aligned
    position = {inner: k for k, inner in enumerate(op.parent or ())}
    return dict(sorted(found.items(), key=lambda item: position.get(item[0], -1)))


def _stage(lowering: LoweringContext, overlaps: list[Overlap]) -> dict[tt.Load, StagedPointer]:
    """Where each load reads, and before that the copies: of all if any conflicts, which hardly ever happens."""
    ev = lowering.ev
    w, conflict = ev.w, overlaps[0].conflict
    for overlap in overlaps[1:]:
        conflict = w.place(arith.OrI(conflict, overlap.conflict))
    copies = {overlap: _scratch(lowering, overlap) for overlap in overlaps}
    spaces: dict[Space, list[Overlap]] = {}
    for overlap in overlaps:
        ptr = overlap.load.ptr
        spaces.setdefault(lowering.plan.space(tile_type(ptr).shape, [ptr], (ptr,)), []).append(overlap)
    branch = w.branch(conflict, with_else=False)
    with w.conditional(branch.then_block, branch):
        for space, group in spaces.items():
            run_nest(ev, space, lambda index, group=group: _copy(ev, index, group, copies))  # type: ignore[misc]
        w.place(scf.Yield([]))
    return {overlap.load: _pointer(w, overlap, conflict, copies[overlap]) for overlap in overlaps}


def _copy(ev: Evaluator, index: Index, group: list[Overlap], copies: dict[Overlap, TileBuffer]) -> None:
    for overlap in group:
        copies[overlap].write(ev.w, index, ev.at(overlap.load.result, index), ev.lanes)


def _pointer(w: Writer, overlap: Overlap, conflict: Value, scratch: TileBuffer) -> StagedPointer:
    direct = overlap.range
    inside = w.place(ttc.Address(scratch.base, w.number(0)))
    if inside.type is not direct.start.type:
        inside = w.place(tt.Bitcast(inside, result=direct.start.type))
    base = w.place(arith.Select(conflict, inside, direct.start))
    return StagedPointer(base, tuple(_choose(w, conflict, a, b) for a, b in zip(scratch.strides, direct.strides)))


def _shape(store: tt.Store) -> tuple[int, ...]:
    return store.ptr.type.shape if isinstance(store.ptr.type, TensorType) else ()


def _choose(w: Any, conflict: Value, staged: int, direct: int | Value) -> int | Value:
    if staged == direct:
        return staged
    other = w.number(direct, i64) if isinstance(direct, int) else direct
    return w.place(arith.Select(conflict, w.number(staged, i64), other))


def _scratch(lowering: LoweringContext, overlap: Overlap) -> TileBuffer:
    """A scratch buffer for the tile with its contiguous dimension fastest, so that stride 1 stays 1."""
    ty, form = tile_type(overlap.load.result), lowering.plan.affinity.of(overlap.load.ptr)
    assert form is not None
    buffer = TileBuffer.allocate(lowering.alloc, ty, stored_type(ty.element))
    order = sorted(range(ty.rank), key=lambda d: (form.strides[d] != Num(1), -d))
    strides, step = [0] * ty.rank, 1
    for d in order:
        strides[d] = step if ty.shape[d] > 1 or form.strides[d] == Num(1) else 0
        step *= ty.shape[d]
    return TileBuffer(buffer.base, ty.shape, tuple(strides), buffer.element, buffer.stored)


class _Range:
    """The bytes that an affine tile of pointers spans."""

    def __init__(self, ev: Evaluator, form: AffineForm, shape: tuple[int, ...], ptr: Value) -> None:
        w = ev.w
        assert form.pointer is not None
        self.ev = ev
        self.start = w.place(tt.AddPtr(ev.scalars[form.pointer], w.symbol(form.base, i64, ev.scalars)))
        self.strides: tuple[int | Value, ...] = tuple(
            s.value if isinstance(s, Num) else w.symbol(s, i64, ev.scalars) for s in form.strides
        )
        pointee = pointee_type(ptr)
        size = max(1, getattr(pointee, "width", 64) // 8)
        first = w.place(tt.PtrToInt(self.start, result=i64))
        self.first, self.low, self.high, self.size = first, first, w.place(arith.AddI(first, w.number(size, i64))), size
        below = above = 0
        for n, stride in zip(shape, self.strides):
            if isinstance(stride, int):
                span = (n - 1) * stride * size
                below, above = below + min(span, 0), above + max(span, 0)
            elif n > 1:
                self._extend(n, stride)
        self.low, self.high = (w.add(end, w.number(by, i64), 0) for end, by in ((self.low, below), (self.high, above)))

    def _extend(self, n: int, stride: Value) -> None:
        w, zero = self.ev.w, self.ev.w.number(0, i64)
        span = w.place(arith.MulI(stride, w.number((n - 1) * self.size, i64)))
        self.low = w.place(arith.AddI(self.low, w.place(arith.MinSI(span, zero))))
        self.high = w.place(arith.AddI(self.high, w.place(arith.MaxSI(span, zero))))

    def meets(self, other: _Range, same_shape: bool) -> Value:
        """i1: the ranges overlap, and not by being one and the same tile."""
        w = self.ev.w
        less = arith.CmpIPredicate.ult
        overlap = w.place(
            arith.AndI(w.place(arith.CmpI(less, self.low, other.high)), w.place(arith.CmpI(less, other.low, self.high)))
        )
        if not same_shape or self.size != other.size:
            return overlap
        differs = w.place(arith.CmpI(arith.CmpIPredicate.ne, self.first, other.first))
        for a, b in zip(self.strides, other.strides):
            if a is b or (isinstance(a, int) and a == b):
                continue
            x, y = (w.number(s, i64) if isinstance(s, int) else s for s in (a, b))
            differs = w.place(arith.OrI(differs, w.place(arith.CmpI(arith.CmpIPredicate.ne, x, y))))
        return w.place(arith.AndI(overlap, differs))
