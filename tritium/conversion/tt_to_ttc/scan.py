"""Scans and histograms: element after element along one dimension, in vectors across the others where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import arith, scf, tt
from ...ir import TensorType, Value, VectorType
from .buffers import TileBuffer
from .evaluate import zero_index
from .lanes import Index, Lane, Uniform, Vec
from .lowerings import lowers
from .nests import Space, run_nest
from .reduce import apply_region, vectorizable

if TYPE_CHECKING:
    from .convert import TileLowering

__all__: list[str] = []


@lowers(tt.Scan)
def _scan(lowering: TileLowering, op: tt.Scan) -> None:
    ev, shape, dim = lowering.ev, op.srcs[0].type.shape, op.axis
    outputs = [TileBuffer.allocate(lowering.alloc, r.type) for r in op.results]
    space = _across(lowering, op, shape, dim)
    flat = (*shape[:dim], 1, *shape[dim + 1 :])
    run_nest(ev, Space(flat, space.axis, space.lanes), lambda index: _column(lowering, op, index, outputs))
    ev.buffers.update(zip(op.results, outputs))


def _across(lowering: TileLowering, op: tt.Scan, shape: tuple[int, ...], dim: int) -> Space:
    """Vectors along any dimension but the scanned one."""
    space = lowering.plan.space(shape, op.srcs)
    if space.axis == dim or not vectorizable(op):
        others = [d for d, n in enumerate(shape) if d != dim and n >= space.lanes > 1]
        axis = others[-1] if others and vectorizable(op) else -1
        return Space(shape, axis, space.lanes)
    return space


def _column(lowering: TileLowering, op: tt.Scan, index: Index, outputs: list[TileBuffer]) -> None:
    """The scan at one place of the other dimensions (or one vector of places)."""
    ev = lowering.ev
    w, n, dim = ev.w, op.srcs[0].type.shape[op.axis], op.axis
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
    ev, ty = lowering.ev, op.result.type
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
        branch = scf.If.build(known, [], with_else=False)
        w.place(branch)
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
