"""Scans and histograms.

A scan by a well-known operation along the vector axis goes vector by vector: within one by doubling distances, then
with all before it. So sums of floats are grouped otherwise than from left to right, as on GPUs. Any other scan goes
element after element, in vectors across the other dimensions where there are any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import arith, scf, tt, ttc
from ...ir import TensorType, Type, Value, VectorType
from .buffers import TileBuffer
from .evaluate import zero_index
from .lanes import Index, Lane, Uniform, Vec, tile_type
from .lowering import TileLowering, lowers
from .nests import chunk_index, outer_loops, run_nest
from .peel import peel_for
from .reduce import apply_region, identity_of, vectorizable
from .space import Space

__all__: list[str] = []


@lowers(tt.Scan)
def _scan(lowering: TileLowering, op: tt.Scan) -> None:
    ev, shape, dim = lowering.ev, tile_type(op.srcs[0]).shape, op.axis
    outputs = [TileBuffer.allocate(lowering.alloc, tile_type(r)) for r in op.results]
    space, identity = lowering.plan.space(shape, op.srcs), identity_of(op)
    if space.axis == dim and identity is not None:
        before, ev.lanes = ev.lanes, space.lanes
        outer_loops(ev, space, dim, lambda outer: _row(lowering, op, space, outer, identity, outputs[0]))
        ev.lanes = before
    else:
        space = _across(op, space)
        flat = (*shape[:dim], 1, *shape[dim + 1 :])
        run_nest(ev, Space(flat, space.axis, space.lanes), lambda index: _column(lowering, op, index, outputs))
    ev.buffers.update(zip(op.results, outputs))


def _row(
    lowering: TileLowering, op: tt.Scan, space: Space, outer: list[Lane], identity: tuple[Any, Type], output: TileBuffer
) -> None:
    """The scan along one row, in vectors: what they wait for is one combination each, of all before with all of one."""
    ev, w, lanes, extent = lowering.ev, lowering.ev.w, space.lanes, space.shape[op.axis]
    neutral = w.vector(Uniform(w.number(*identity), 0), lanes)
    last = (0 if op.reverse else lanes - 1,) * lanes

    def combined(a: Value, b: Value) -> Value:
        return apply_region(ev, op, [a, b], lanes, False)[0]

    def chunk(base: Value, before: Value) -> Value:
        index = chunk_index(ev, space, outer, Uniform(base, w.depth))
        own = _within(w, w.vector(ev.at(op.srcs[0], index), lanes), neutral, op.reverse, combined)
        output.write(w, index, Vec(combined(before, own), w.depth), lanes)
        return combined(before, w.place(ttc.Shuffle(own, own, last)))

    def chunks(first: Value, end: Value, before: Value) -> Value:
        with w.loop(first, end, w.number(lanes), [before]) as loop:
            base = loop.induction_variable
            if op.reverse:
                base = w.place(arith.SubI(w.number(extent - lanes), base))
            w.place(scf.Yield([chunk(base, loop.iter_args[0])]))
        return loop.results[0]

    if extent == lanes:
        chunk(w.number(0), neutral)
        return
    peel = None if op.reverse else peel_for(lowering, [op.srcs[0]], space, ())
    first, end, before = w.number(0), w.number(extent), neutral
    if peel is not None:
        middle = peel.split(ev, 0, extent, lanes)
        with peel.holding(ev):
            before = chunks(first, middle, before)
        first = middle
    chunks(first, end, before)


def _within(w: Any, own: Value, neutral: Value, reverse: bool, combined: Callable[[Value, Value], Value]) -> Value:
    """The scan of a vector: each lane with the one 1, 2, 4, … lanes before it; `neutral` stands before the first."""
    lanes, distance = own.type.shape[0], 1  # type: ignore[attr-defined]
    while distance < lanes:
        if reverse:  # own, then neutral
            moved = w.place(ttc.Shuffle(own, neutral, tuple(range(distance, lanes + distance))))
        else:  # the end of neutral, then own
            moved = w.place(ttc.Shuffle(neutral, own, tuple(range(lanes - distance, 2 * lanes - distance))))
        own = combined(moved, own)
        distance *= 2
    return own


def _across(op: tt.Scan, space: Space) -> Space:
    """Vectors along any dimension but the scanned one."""
    shape, dim = space.shape, op.axis
    if space.axis == dim or not vectorizable(op):
        others = [d for d, n in enumerate(shape) if d != dim and n >= space.lanes > 1]
        axis = others[-1] if others and vectorizable(op) else -1
        return Space(shape, axis, space.lanes)
    return space


def _column(lowering: TileLowering, op: tt.Scan, index: Index, outputs: list[TileBuffer]) -> None:
    """The scan at one place of the other dimensions (or one vector of places)."""
    ev = lowering.ev
    w, n, dim = ev.w, tile_type(op.srcs[0]).shape[op.axis], op.axis
    scalar = ev.lanes == 1

    def at(k: Lane) -> Index:
        return (*index[:dim], k, *index[dim + 1 :])

    def values(place: Index) -> list[Value]:
        lanes: list[Any] = [ev.at(v, place) for v in op.srcs]
        return [lane.value if scalar else w.vector(lane, ev.lanes) for lane in lanes]

    def write(place: Index, totals: list[Value]) -> None:
        for output, value in zip(outputs, totals):
            lane = Vec(value, w.depth) if isinstance(value.type, VectorType) else Uniform(value, w.depth)
            output.write(w, place, lane, ev.lanes)

    first = at(Uniform(w.number(n - 1), 0) if op.reverse else zero_index(ev))
    start = values(first)
    write(first, start)
    if n == 1:
        return
    with w.loop(w.number(1), w.number(n), w.number(1), start) as loop:
        k = loop.induction_variable
        if op.reverse:
            k = w.place(arith.SubI(w.number(n - 1), k))
        place = at(Uniform(k, w.depth))
        totals = apply_region(ev, op, [*loop.iter_args, *values(place)], ev.lanes, scalar)
        write(place, totals)
        w.place(scf.Yield(totals))


@lowers(tt.Histogram)
def _histogram(lowering: TileLowering, op: tt.Histogram) -> None:
    """Values outside the bins are not counted."""
    ev, ty = lowering.ev, tile_type(op.result)
    bins = TileBuffer.allocate(lowering.alloc, ty)
    zero = Uniform(ev.w.number(0, ty.element), 0)
    space = Space(ty.shape, 0, 1)
    run_nest(ev, space, lambda index: bins.write(ev.w, index, zero, ev.lanes))

    def count(index: Index) -> None:
        w = ev.w
        lane: Any = ev.at(op.src, index)
        known = w.place(arith.CmpI(arith.CmpIPredicate.ult, lane.value, w.number(ty.numel, lane.value.type)))
        if op.mask is not None:
            mask: Any = ev.at(op.mask, index)
            known = w.place(arith.AndI(known, mask.value))
        branch = w.branch(known, with_else=False)
        with w.conditional(branch.then_block, branch):
            at = (Uniform(w.cast(lane.value, w.number(0).type), w.depth),)
            old: Any = bins.read(w, at, 1)
            one = w.number(1, ty.element)
            bins.write(w, at, Uniform(w.place(arith.AddI(old.value, one)), w.depth), 1)
            w.place(scf.Yield([]))

    source = op.src.type
    assert isinstance(source, TensorType)
    run_nest(ev, Space(source.shape, -1, 1), count)
    ev.buffers[op.result] = bins
