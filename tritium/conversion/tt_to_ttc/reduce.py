"""Reductions as vectorized trees.

Along the vector axis, four accumulators of a vector each hide the latency of the combination; they are joined two by
two, then the lanes by halves. Along any other dimension, vectors are combined element by element. So elements change
places along the vector axis: a combination that is not known to be commutative (`analysis/combine`) goes another way
there, vector by vector, neighbours first.
"""

from __future__ import annotations

from collections.abc import Callable

from ...analysis.combine import Order, combine_of, identity_element
from ...dialects import arith, scf, tt, ttc
from ...ir import (
    CONSTANT,
    ELEMENTWISE,
    FloatType,
    IntegerType,
    Operation,
    Type,
    Value,
    VectorType,
    element_type,
)
from ...support import InternalError
from .buffers import TileBuffer
from .evaluate import Evaluator, zero_index
from .extremes import Extreme
from .lanes import Index, Lane, Strided, Uniform, Vec
from .nests import outer_loops
from .peel import Peel
from .read_prefetch import BYTES_PER_PREFETCH, element_bytes
from .space import Space

__all__ = ["ReduceItem", "apply_region", "emit_reductions", "identity_of", "vectorizable"]

UNROLL = 4
"""Accumulators side by side: an addition takes 4 cycles and a core starts one or two in each."""


def vectorizable(op: tt.Reduce | tt.Scan) -> bool:
    """True when the combine region has nothing but elementwise ops and constants."""
    return all(
        inner.traits & (ELEMENTWISE | CONSTANT) or isinstance(inner, (arith.Select, tt.ReduceReturn, tt.ScanReturn))
        for inner in op.combine.block
    )


class ReduceItem:
    """A pending `tt.reduce` with the buffers of its results (None for scalars).

    `extreme` is set for the maximum or minimum of floats.
    """

    def __init__(self, op: tt.Reduce, outputs: list[TileBuffer | None], extreme: Extreme | None) -> None:
        self.op = op
        self.outputs = outputs
        self.extreme = extreme

    @property
    def sources(self) -> list[Value]:
        """The tiles that are reduced."""
        return self.op.srcs

    def identities(self) -> list[tuple[float | int, Type]] | None:
        """The identity elements, one per source, if the combination is a single well-known op."""
        found = identity_of(self.op)
        return None if found is None else [found]


def identity_of(op: tt.Reduce | tt.Scan) -> tuple[float | int, Type] | None:
    """The identity element and its type, if one tile is combined by a single well-known op."""
    ops = list(op.combine.block)
    if len(ops) != 2 or len(ops[0].operands) != 2 or set(ops[0].operands) != set(op.combine.block.args):
        return None
    ty = element_type(op.srcs[0].type)
    found = identity_element(ops[0].name, ty) if isinstance(ty, (IntegerType, FloatType)) else None
    return None if found is None else (found, ty)


Step = Callable[[Index], None]


def emit_reductions(
    ev: Evaluator,
    space: Space,
    items: list[ReduceItem],
    also: Step,
    peel: Peel | None = None,
    streams: frozenset[tt.Load] = frozenset(),
) -> None:
    """Write the loops of reductions over one space; `also` is run at each index, for tiles buffered on the way.

    `peel` splits loops over the vector axis, where `streams` are prefetched.
    """
    before, ev.lanes = ev.lanes, space.lanes
    _Reduction(ev, space, items, also, peel, streams).run()
    ev.lanes = before


class _Reduction:
    def __init__(
        self,
        ev: Evaluator,
        space: Space,
        items: list[ReduceItem],
        also: Step,
        peel: Peel | None,
        streams: frozenset[tt.Load],
    ) -> None:
        self.ev, self.space, self.items, self.also = ev, space, items, also
        self.dim = items[0].op.axis
        self.across = space.axis == self.dim  # lanes are reduced too
        self.peel = peel if self.across else None
        self.chunks = 1 if space.axis < 0 else space.shape[space.axis] // space.lanes
        self.in_order = self.across and any(combine_of(i.op.combine.block).order is Order.ORDERED for i in items)
        self.unroll = 1 if self.in_order else min(UNROLL, self.chunks)
        self.streams = streams if self.across and not self.in_order else frozenset()
        self.extremes: dict[ReduceItem, Extreme] = {}  # that are followed now
        self.unrolled_chunks = 1  # per accumulator and iteration: as many as take one line in four
        if self.streams:
            at_once = max(element_bytes(op.ptr) for op in self.streams) * space.lanes * self.unroll
            self.unrolled_chunks = max(1, BYTES_PER_PREFETCH // at_once)

    def run(self) -> None:
        if self.across:
            outer_loops(self.ev, self.space, self.dim, self._across_lanes)
        else:
            outer_loops(self.ev, self.space, self.dim, self._lane_by_lane)

    # -- along the vector axis --------------------------------------------------------------------------------

    def _across_lanes(self, outer: list[Lane]) -> None:
        count = self.unroll * self.unrolled_chunks
        extent, step = self.space.shape[self.dim], self.space.lanes * count

        def at(base: Lane) -> list[Index]:
            return [self._chunk(outer, base, u) for u in range(count)]

        self._follow_extremes(compare=bool(self.streams) and extent > step)
        totals = self._joined(self._accumulate(at, extent, step))
        totals = self._resolve_doubtful(totals, lambda base: [self._chunk(outer, base, 0)])
        self._finish(outer, totals)

    def _follow_extremes(self, compare: bool) -> None:
        """Use the combinations of `extremes` from here on."""
        found = {item: item.extreme for item in self.items if item.extreme is not None and not self.in_order}
        self.extremes = {item: extreme.comparing() if compare else extreme for item, extreme in found.items()}

    def _joined(self, totals: list[list[list[Value]]]) -> list[list[Value]]:
        """The totals of all accumulators and lanes: scalars."""
        width = len(totals)
        while width > 1:
            width //= 2
            totals = [self._combine(totals[u], totals[u + width], self.ev.lanes) for u in range(width)]
        return totals[0] if self.in_order else self._horizontal(totals[0])

    def _resolve_doubtful(self, totals: list[list[Value]], at: Callable[[Lane], list[Index]]) -> list[list[Value]]:
        """The results of scalar totals; doubtful ones are recomputed chunk by chunk over the elements `at` some
        base."""
        results, compared = self._results(totals), [item for item, e in self.extremes.items() if e.compares]
        for item in compared:
            place = self.items.index(item)
            results[place] = self._recompute_if_doubtful(item, totals[place], results[place][0], at)
        return results

    def _results(self, totals: list[list[Value]]) -> list[list[Value]]:
        """What totals are, without the state of extremes."""
        followed = [self.extremes.get(item) for item in self.items]
        return [[e.result(self.ev.w, t)] if e is not None else t for e, t in zip(followed, totals)]

    def _recompute_if_doubtful(
        self, item: ReduceItem, state: list[Value], result: Value, at: Callable[[Lane], list[Index]]
    ) -> list[Value]:
        w, extreme = self.ev.w, self.extremes[item]
        branch = w.branch(extreme.doubtful(w, state), [extreme.type])
        kept = (self.items, self.also, self.streams, self.peel, self.unrolled_chunks, self.extremes)
        self.items, self.also, self.streams, self.peel, self.unrolled_chunks = [item], _nothing, frozenset(), None, 1
        self._follow_extremes(compare=False)
        with w.conditional(branch.then_block, branch):
            again = self._joined(self._accumulate(at, self.space.shape[self.dim], self.space.lanes))
            w.place(scf.Yield(self._results(again)[0]))
        assert branch.else_block is not None
        with w.conditional(branch.else_block, branch):
            w.place(scf.Yield([result]))
        self.items, self.also, self.streams, self.peel, self.unrolled_chunks, self.extremes = kept
        return list(branch.results)

    def _chunk(self, outer: list[Lane], base: Lane, u: int) -> Index:
        assert isinstance(base, Uniform)
        w, index = self.ev.w, list(outer)
        start = w.add(base.value, w.number(u * self.space.lanes), base.level)
        index[self.space.axis] = Strided(start, 1, base.level)
        return tuple(index)

    def _accumulate(self, at: Callable[[Lane], list[Index]], extent: int, step: int) -> list[list[list[Value]]]:
        """Totals by accumulator, item and source, over coordinates 0, step, … < extent."""
        w = self.ev.w
        indices = at(zero_index(self.ev))
        side_by_side = len(indices) // self.unrolled_chunks
        start, first = self._identity_totals(side_by_side), 0
        if start is None or extent == step:
            parts = [self._states(item) for item in self._parts(indices[:side_by_side])]
            start, first = self._added(parts, indices[side_by_side:]), step
        if first >= extent:
            return start
        end = w.number(extent)
        if self.peel is None:
            return self._loop(at, start, w.number(first), end, step, self.streams)
        middle = self.peel.split(self.ev, first, extent, step)
        with self.peel.holding(self.ev):
            whole = self._loop(at, start, w.number(first), middle, step, self.streams)
        # What is left goes chunk by chunk into the first accumulator: a fourth of the code, for a few chunks.
        rest = self._loop(lambda base: at(base)[:1], whole[:1], middle, end, step // len(indices))
        return rest + whole[1:]

    def _loop(
        self,
        at: Callable[[Lane], list[Index]],
        start: list[list[list[Value]]],
        lower: Value,
        upper: Value,
        step: int,
        streams: frozenset[tt.Load] = frozenset(),
    ) -> list[list[list[Value]]]:
        """One loop that continues from the totals `start`."""
        w = self.ev.w
        flat = [v for acc in start for item in acc for v in item]
        with w.loop(lower, upper, w.number(step), flat) as loop:
            base = Uniform(loop.induction_variable, w.depth)
            args = self._regroup(loop.iter_args, start)
            totals = self._added(args, at(base), streams)
            w.place(scf.Yield([v for acc in totals for item in acc for v in item]))
        return self._regroup(list(loop.results), start)

    def _added(
        self, totals: list[list[list[Value]]], indices: list[Index], streams: frozenset[tt.Load] = frozenset()
    ) -> list[list[list[Value]]]:
        """Combine the elements at the indices with the totals, one round of all accumulators after another."""
        self.ev.prefetched, width = streams, 1 if self.in_order else self.ev.lanes
        for first in range(0, len(indices), len(totals)):
            new = self._parts(indices[first : first + len(totals)])
            totals = [self._combine(a, b, width) for a, b in zip(totals, new)]
        return totals

    def _identity_totals(self, count: int) -> list[list[list[Value]]] | None:
        w, found = self.ev.w, [item.identities() for item in self.items]
        if self.in_order or any(f is None for f in found):
            return None
        vectors = []
        for item, f in zip(self.items, found):
            assert f is not None
            if item in self.extremes:
                vectors.append(self.extremes[item].start(w, self.ev.lanes if self.space.axis >= 0 else 0))
                continue
            scalars = [Uniform(w.number(value, ty), 0) for value, ty in f]
            vectors.append([self._register(s) for s in scalars])
        return [vectors] * count

    def _register(self, lane: Lane) -> Value:
        if self.space.axis < 0:
            assert isinstance(lane, Uniform)
            return lane.value
        return self.ev.w.vector(lane, self.ev.lanes)

    def _parts(self, indices: list[Index]) -> list[list[list[Value]]]:
        """The elements to combine with the totals at some indices: vectors, or scalars if order matters."""
        values = self._values(indices)
        return [self._neighbours_first(item) for item in values] if self.in_order else values

    def _states(self, parts: list[list[Value]]) -> list[list[Value]]:
        """What totals begin with, of elements by item and source."""
        followed = [self.extremes.get(item) for item in self.items]
        return [e.state(self.ev.w, p) if e is not None else p for e, p in zip(followed, parts)]

    def _values(self, indices: list[Index]) -> list[list[list[Value]]]:
        out = []
        for index in indices:
            self.also(index)
            out.append([[self._register(self.ev.at(v, index)) for v in item.sources] for item in self.items])
            self.ev.prefetched = frozenset()  # one prefetch per iteration
        return out

    def _regroup(self, flat: list[Value], like: list[list[list[Value]]]) -> list[list[list[Value]]]:
        values = iter(flat)
        return [[[next(values) for _ in item] for item in acc] for acc in like]

    def _horizontal(self, totals: list[list[Value]]) -> list[list[Value]]:
        """Halve the vectors until one lane is left: the lower half with the upper."""
        width = self.ev.lanes
        while width > 1:
            half = width // 2
            totals = self._halved(totals, tuple(range(half)), tuple(range(half, width)))
            width = half
        return totals

    def _neighbours_first(self, totals: list[list[Value]]) -> list[list[Value]]:
        """Halve the vectors until one lane is left: each even lane with the next."""
        width = self.ev.lanes
        while width > 1:
            totals = self._halved(totals, tuple(range(0, width, 2)), tuple(range(1, width, 2)))
            width //= 2
        return totals

    def _halved(self, totals: list[list[Value]], first: tuple[int, ...], second: tuple[int, ...]) -> list[list[Value]]:
        """Some lanes combined with as many others."""
        a, b = ([[self._picked(v, lanes) for v in item] for item in totals] for lanes in (first, second))
        return self._combine(a, b, len(first))

    def _picked(self, vector: Value, lanes: tuple[int, ...]) -> Value:
        alone = len(lanes) == 1
        return self.ev.w.place(ttc.Extract(vector, lanes[0]) if alone else ttc.Shuffle(vector, vector, lanes))

    # -- along another dimension ------------------------------------------------------------------------------

    def _lane_by_lane(self, outer: list[Lane]) -> None:
        if self.space.axis < 0:
            self._columns(outer, None)
            return
        w, extent = self.ev.w, self.space.shape[self.space.axis]
        step = self.space.lanes * self.unroll
        if extent == step:
            self._columns(outer, zero_index(self.ev))
            return
        with w.counted(0, extent, step) as iv:
            self._columns(outer, Uniform(iv, w.depth))

    def _columns(self, outer: list[Lane], base: Lane | None) -> None:
        def at(row: Lane) -> list[Index]:
            index = list(outer)
            index[self.dim] = row
            if base is None:
                return [tuple(index)]
            return [self._chunk(index, base, u) for u in range(self.unroll)]

        self._follow_extremes(compare=False)
        totals = self._accumulate(at, self.space.shape[self.dim], 1)
        for total, index in zip(totals, at(zero_index(self.ev))):
            self._write(index, self._results(total))

    def _write(self, index: Index, totals: list[list[Value]]) -> None:
        place = index[: self.dim] + index[self.dim + 1 :]
        level = self.ev.w.depth
        for item, values in zip(self.items, totals):
            for output, result, value in zip(item.outputs, item.op.results, values):
                lane: Lane = Vec(value, level) if isinstance(value.type, VectorType) else Uniform(value, level)
                if output is None:
                    self.ev.scalars[result] = value
                else:
                    output.write(self.ev.w, place, lane, self.ev.lanes)

    def _finish(self, outer: list[Lane], totals: list[list[Value]]) -> None:
        lanes, self.ev.lanes = self.ev.lanes, 1
        self._write(tuple(outer), totals)
        self.ev.lanes = lanes

    # -- the combine region -----------------------------------------------------------------------------------

    def _combine(self, a: list[list[Value]], b: list[list[Value]], lanes: int) -> list[list[Value]]:
        scalar = self.space.axis < 0 or lanes == 1
        return [
            self.extremes[item].step(self.ev.w, x, y)
            if item in self.extremes
            else apply_region(self.ev, item.op, x + y, 1 if scalar else lanes, scalar)
            for item, x, y in zip(self.items, a, b)
        ]


def _nothing(index: Index) -> None:
    """No further effect, for a loop that only recomputes."""


def apply_region(
    ev: Evaluator, op: tt.Reduce | tt.Scan, arguments: list[Value], lanes: int, scalar: bool
) -> list[Value]:
    """The combine region of `op` written out on scalars or vectors."""
    block = op.combine.block
    mapping: dict[Value, Value] = dict(zip(block.args, arguments, strict=True))
    for inner in block:
        ev.w.loc = inner.loc
        if isinstance(inner, (tt.ReduceReturn, tt.ScanReturn)):
            return [_mapped(ev, v, mapping, lanes, scalar) for v in inner.operands]
        if scalar:
            for v in inner.operands:
                mapping.setdefault(v, ev.scalars.get(v, v))
            copy = inner.clone(mapping)
            ev.w.place(copy)
            continue
        _vector_copy(ev, inner, mapping, lanes)
    raise InternalError(f"the region of {op.name} does not return")


def _vector_copy(ev: Evaluator, inner: Operation, mapping: dict[Value, Value], lanes: int) -> None:
    if isinstance(inner, arith.Constant):
        mapping[inner.result] = ev.w.splat(ev.w.constant(inner.value), lanes, 0)
        return
    operands = [_mapped(ev, v, mapping, lanes, False) for v in inner.operands]
    types = [VectorType((lanes,), r.type) for r in inner.results]
    copy = type(inner).create(operands, types, dict(inner.attributes), loc=inner.loc)  # type: ignore[attr-defined]
    ev.w.place(copy)
    mapping.update(zip(inner.results, copy.results))


def _mapped(ev: Evaluator, v: Value, mapping: dict[Value, Value], lanes: int, scalar: bool) -> Value:
    found = mapping.get(v)
    if found is not None:
        return found
    value = ev.scalars[v]
    return value if scalar else ev.w.splat(value, lanes, 0)
