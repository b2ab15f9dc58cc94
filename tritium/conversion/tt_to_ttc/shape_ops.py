"""Evaluation of constants, shape operations and gathers: they change the index at which operands are evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import arith, tt, ttc, ub
from ...ir import DenseElementsAttr, Value, element_type, i1, i32
from ...support import InternalError
from .buffers import row_major
from .evaluate import Evaluator, base_of, evaluates, select_lanes, stride_of, zero_index
from .lanes import Index, Lane, Strided, Uniform, Vec, tile_type

__all__: list[str] = []


@evaluates(arith.Constant)
def _constant(ev: Evaluator, op: arith.Constant, index: Index) -> Lane:
    value = op.value
    assert isinstance(value, DenseElementsAttr)
    if not value.is_splat:
        raise InternalError("a constant tile with different elements has no buffer")
    return Uniform(ev.w.constant(value.splat), 0)


@evaluates(ub.Poison)
def _poison(ev: Evaluator, op: ub.Poison, index: Index) -> Lane:
    return Uniform(ev.w.place(ub.Poison(result=element_type(op.result.type)), 0), 0)


@evaluates(tt.Splat)
def _splat(ev: Evaluator, op: tt.Splat, index: Index) -> Lane:
    return Uniform(ev.scalars[op.src], 0)


@evaluates(tt.Unsplat)
def _unsplat(ev: Evaluator, op: tt.Unsplat, index: Index) -> Lane:
    zero = Uniform(ev.w.number(0), 0)
    return ev.at(op.src, (zero,) * tile_type(op.src).rank)


@evaluates(tt.MakeRange)
def _make_range(ev: Evaluator, op: tt.MakeRange, index: Index) -> Lane:
    (at,) = index
    start = Uniform(ev.w.number(op.start), 0)
    return _sum(ev, at, start)


def _sum(ev: Evaluator, a: Lane, b: Lane) -> Lane:
    """a + b of i32 lanes."""
    w, level = ev.w, max(a.level, b.level)
    if isinstance(a, Uniform) and isinstance(b, Uniform):
        return Uniform(w.add(a.value, b.value, level), level)
    if isinstance(a, Vec) or isinstance(b, Vec):
        return Vec(w.add(w.vector(a, ev.lanes), w.vector(b, ev.lanes), level), level)
    return Strided(w.add(base_of(a), base_of(b), level), ev._plus(stride_of(a), stride_of(b), level), level)


@evaluates(tt.ExpandDims)
def _expand_dims(ev: Evaluator, op: tt.ExpandDims, index: Index) -> Lane:
    return ev.at(op.src, index[: op.axis] + index[op.axis + 1 :])


@evaluates(tt.Broadcast)
def _broadcast(ev: Evaluator, op: tt.Broadcast, index: Index) -> Lane:
    zero = zero_index(ev)
    return ev.at(op.src, tuple(zero if n == 1 else at for n, at in zip(tile_type(op.src).shape, index)))


@evaluates(tt.Trans)
def _trans(ev: Evaluator, op: tt.Trans, index: Index) -> Lane:
    source: list[Lane] = [index[0]] * len(index)
    for d, k in enumerate(op.order):
        source[k] = index[d]
    return ev.at(op.src, tuple(source))


@evaluates(tt.Reshape)
def _reshape(ev: Evaluator, op: tt.Reshape, index: Index) -> Lane:
    buffer = ev.buffers.get(op.src)
    if buffer is not None and buffer.strides == row_major(buffer.shape):
        return buffer.reshaped(tile_type(op.result).shape).read(ev.w, index, ev.lanes)
    return ev.at(op.src, reshaped_index(ev, tile_type(op.src).shape, tile_type(op.result).shape, index))


def reshaped_index(ev: Evaluator, source: tuple[int, ...], result: tuple[int, ...], index: Index) -> Index:
    """The coordinates in `source` of the element at `index` of `result`, equal in row-major order."""
    key = ("reshape", source, result, index)
    memo = ev.w.levels[ev.w.depth].memo
    if key in memo:
        return memo[key]
    real = [at for n, at in zip(result, index) if n > 1]
    if [n for n in source if n > 1] == [n for n in result if n > 1]:  # only dimensions of size 1 come and go
        rest = iter(real)
        memo[key] = tuple(next(rest) if n > 1 else zero_index(ev) for n in source)
        return memo[key]
    linear: Lane = zero_index(ev)
    for n, at in zip(result, index):
        linear = _sum(ev, _times(ev, linear, n), at)
    memo[key] = _split_linear(ev, linear, source)
    return memo[key]


def _times(ev: Evaluator, lane: Lane, factor: int) -> Lane:
    if isinstance(lane, Vec):
        return Vec(ev.w.times_vector(lane.value, factor, lane.level), lane.level)
    if isinstance(lane, Uniform):
        return Uniform(ev.w.times(lane.value, factor, lane.level), lane.level)
    assert isinstance(lane, Strided) and isinstance(lane.stride, int)
    return Strided(ev.w.times(lane.base, factor, lane.level), lane.stride * factor, lane.level)


def _split_linear(ev: Evaluator, linear: Lane, shape: tuple[int, ...]) -> Index:
    parts: list[Lane] = []
    for d in range(len(shape) - 1, 0, -1):
        linear, rest = _divide(ev, linear, shape[d])
        parts.append(rest)
    return (linear, *reversed(parts))


def _divide(ev: Evaluator, lane: Lane, n: int) -> tuple[Lane, Lane]:
    """Quotient and remainder of non-negative coordinates by a number; chunks start at multiples of their length."""
    w, level = ev.w, lane.level
    if n == 1:
        return lane, zero_index(ev)

    def scalar(v: Value) -> tuple[Value, Value]:
        by = w.number(n)
        return w.place(arith.DivUI(v, by), level), w.place(arith.RemUI(v, by), level)

    if isinstance(lane, Uniform):
        q, r = scalar(lane.value)
        return Uniform(q, level), Uniform(r, level)
    if isinstance(lane, Strided) and lane.stride == 1 and n % ev.lanes == 0:
        q, r = scalar(lane.base)
        return Uniform(q, level), Strided(r, 1, level)
    v = w.vector(lane, ev.lanes)
    by = w.constant(DenseElementsAttr((n,), v.type))  # type: ignore[arg-type]
    return Vec(w.place(arith.DivUI(v, by), level), level), Vec(w.place(arith.RemUI(v, by), level), level)


@evaluates(tt.Join)
def _join(ev: Evaluator, op: tt.Join, index: Index) -> Lane:
    return _either(ev, op, index[-1], 1, lambda: ev.at(op.lhs, index[:-1]), lambda: ev.at(op.rhs, index[:-1]))


@evaluates(tt.Cat)
def _cat(ev: Evaluator, op: tt.Cat, index: Index) -> Lane:
    """Both sides are evaluated, at coordinates brought into their range."""
    n = tile_type(op.lhs).shape[0]
    first, w = index[0], ev.w
    if isinstance(first, Strided) and first.stride == 1 and n % ev.lanes == 0:
        first_base = Uniform(first.base, first.level)  # a chunk lies on one side
        test = first_base
    else:
        test = first  # type: ignore[assignment]
    low = _clamped(ev, first, n, test)
    high = _clamped(ev, _sum(ev, first, Uniform(w.number(-n), 0)), n, test)
    return _either(ev, op, test, n, lambda: ev.at(op.lhs, (low, *index[1:])), lambda: ev.at(op.rhs, (high, *index[1:])))


def _clamped(ev: Evaluator, lane: Lane, n: int, test: Lane) -> Lane:
    """Coordinates modulo n, so that the side not chosen stays within its tile."""
    w, level = ev.w, lane.level
    if isinstance(lane, Vec):
        mask = w.constant(DenseElementsAttr((n - 1,), lane.value.type))  # type: ignore[arg-type]
        return Vec(w.place(arith.AndI(lane.value, mask), level), level)
    if isinstance(lane, Strided) and not isinstance(test, Uniform):
        return _clamped(ev, Vec(w.vector(lane, ev.lanes), level), n, test)
    base = w.place(arith.AndI(base_of(lane), w.number(n - 1)), level)
    return Uniform(base, level) if isinstance(lane, Uniform) else Strided(base, stride_of(lane), level)


def _either(ev: Evaluator, op: Any, where: Lane, n: int, below: Callable[[], Lane], above: Callable[[], Lane]) -> Lane:
    """`below()` where the coordinate is less than `n`, else `above()`."""
    w = ev.w
    element = op.result.type.element
    a, b = below(), above()
    compare = arith.CmpI(arith.CmpIPredicate.slt, w.number(0), w.number(n))
    test = ev.apply(compare, [where, Uniform(w.number(n), 0)], i1)
    select = arith.Select.create(
        [w.number(0)] * 3, [element], loc=op.loc
    )  # a template: only its class and attributes count
    chosen = select_lanes(ev, select, [test, a, b])
    lane = chosen if chosen is not None else ev.apply(select, [test, a, b], element)
    for template in (compare, select):
        template.drop_references()
    return lane


@evaluates(tt.Gather)
def _gather(ev: Evaluator, op: tt.Gather, index: Index) -> Lane:
    exchanged = _exchange(ev, op, index)
    if exchanged is not None:
        return exchanged
    at = ev.at(op.indices, index)
    w = ev.w
    where: Lane
    if isinstance(at, Uniform):
        where = Uniform(w.cast(at.value, i32, True, at.level), at.level)
    elif isinstance(at, Strided) and isinstance(at.stride, int) and at.base.type is i32:  # neighbours, as of a slice
        where = at
    else:
        where = Vec(w.cast(w.vector(at, ev.lanes), i32, True, at.level), at.level)
    source = tuple(where if d == op.axis else i for d, i in enumerate(index))
    return ev.at(op.src, source)


def _exchange(ev: Evaluator, op: tt.Gather, index: Index) -> Lane | None:
    """A gather at the index xor a number: another vector, its lanes in another order, or both.

    A chunk starts at a multiple of its length, a power of two.
    """
    at, w, lanes, number = index[0], ev.w, ev.lanes, _exchange_number(op.indices)
    if number is None or len(index) > 1 or not isinstance(at, Strided) or at.stride != 1:
        return None
    within = number % lanes
    if number != within:
        at = Strided(w.place(arith.XOrI(at.base, w.number(number - within)), at.level), 1, at.level)
        index = (at,)
    found = ev.at(op.src, index)
    if not within:
        return found
    own, order = w.vector(found, lanes), tuple(lane ^ within for lane in range(lanes))
    level = max(at.level, found.level)
    return Vec(w.place(ttc.Shuffle(own, own, order), level), level)


def _exchange_number(indices: Value) -> int | None:
    """A number such that element i of the tile is i xor this number, in a tile whose size is a power of two."""
    op, size = indices.defining_op, tile_type(indices).numel
    for start, constant in (op.operands, op.operands[::-1]) if isinstance(op, arith.XOrI) else ():
        first, second = start.defining_op, constant.defining_op
        if isinstance(first, tt.MakeRange) and first.start == 0 and isinstance(second, arith.Constant):
            number = second.splat_value()
            if isinstance(number, int) and 0 <= number < size and size & (size - 1) == 0:
                return number
    return None
