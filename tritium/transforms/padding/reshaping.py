"""Reshapes of padded tiles: elements keep their coordinates, followed by padding in each dimension.

A reshape is rewritten unless every padded dimension is the first of those it is split into or merged with: 6x4 is
padded to 8x4 and 24 to 32, and the elements of both have the same order. Else each element is looked up:

    tt.reshape %x : 3x5 -> 15    =>    flat = the 4x8 elements of %x in row-major order
                                       result[i] = flat[(i // 5) * 8 + i % 5]        by tt.gather
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...dialects import arith, tt
from ...ir import Builder, DenseElementsAttr, IntegerAttr, TensorType, Value, i32
from ...support import UnsupportedOperation
from .combining import keeps_lanes
from .shapes import Padder, Shape, padded, uneven

__all__ = ["RESHAPING", "decompose_cat"]

_MOST = (1 << 31) - 1


def _range(op: Any, p: Padder) -> None:
    size = op.result.type.numel
    if op.start + size <= _MOST:
        op.attributes["end"] = IntegerAttr(op.start + size, i32)
        return
    steps = p.range(size)
    p.replace(p.each(arith.AddI, steps, op.start))


def _constant(op: Any, p: Padder) -> None:
    """The same value in all elements, or zeros after those given."""
    attr = op.attributes["value"]
    full = op.result.type
    values = attr.values
    if not attr.is_splat:
        shape = p.results[0]
        places = [sum(c * s for c, s in zip(at, _strides(full.shape))) for at in _coordinates(shape)]
        spread = [type(values[0])(0)] * full.numel
        for place, value in zip(places, values):
            spread[place] = value
        values = tuple(spread)
    op.attributes["value"] = DenseElementsAttr(values, full)


def _strides(shape: Shape) -> list[int]:
    """Row-major strides."""
    return [math.prod(shape[d + 1 :]) for d in range(len(shape))]


def _coordinates(shape: Shape) -> Iterator[Shape]:
    strides = _strides(shape)
    for i in range(math.prod(shape)):
        yield tuple(i // step % size for step, size in zip(strides, shape))


# -- reshapes -----------------------------------------------------------------------------------------------------


def _groups(a: Shape, b: Shape) -> Iterator[tuple[Shape, Shape]]:
    """The minimal groups of adjacent dimensions of two shapes with the same number of elements."""
    i = j = 0
    while i < len(a) or j < len(b):
        m, n = i, j
        left = right = 1
        while left != right or (m, n) == (i, j):
            if (left <= right and m < len(a)) or n == len(b):
                left, m = left * a[m], m + 1
            else:
                right, n = right * b[n], n + 1
        yield a[i:m], b[j:n]
        i, j = m, n


def _lies(group: Shape) -> bool:
    """Whether only the first of the dimensions is padded."""
    rest = [d for d in group if d != 1]
    return not uneven(rest[1:])


def lies_alike(a: Shape, b: Shape) -> bool:
    """Whether padded tiles of these shapes have elements in the same order and padding at the same positions."""
    return all(_lies(x) and _lies(y) for x, y in _groups(a, b))


def _reshape(op: Any, p: Padder) -> None:
    source, target = p.sources[0], p.results[0]
    if keeps_lanes(op) and uneven(source):
        made = p.reshaped(op.src, (math.prod(padded(source)),))
        p.lanes[made] = source
        p.replace(made)
        return
    op.attributes.pop("allow_reorder", None)
    if lies_alike(source, target):
        number = p.filled.get(op.src)
        if number is not None:
            p.filled[op.result] = number
        return
    p.replace(_looked_up(p, op.src, source, target))


def _looked_up(p: Padder, value: Value, source: Shape, target: Shape) -> Value:
    """The elements of a padded tile of shape `source` as one of shape `target`."""
    full, goal = padded(source), padded(target)
    flat = p.reshaped(value, (math.prod(full),))
    place = p.range(math.prod(goal))
    number = _sum(p, [_term(p, place, *parts) for parts in zip(_strides(goal), goal, _strides(target))])
    places = [
        _term(p, number, step, size, stride) for step, size, stride in zip(_strides(source), source, _strides(full))
    ]
    return p.reshaped(p.gather(flat, _sum(p, places), 0), goal)


def _term(p: Padder, x: Value, step: int, size: int, stride: int) -> Value | None:
    """x // step % size * stride"""
    if size == 1:
        return None
    x = p.each(arith.DivUI, x, step) if step > 1 else x
    x = p.each(arith.RemUI, x, size)
    return p.each(arith.MulI, x, stride) if stride > 1 else x


def _sum(p: Padder, terms: list[Value | None]) -> Value:
    total: Value | None = None
    for term in terms:
        if term is not None:
            total = term if total is None else p.add(arith.AddI(total, term))
    assert total is not None
    return total


# -- others -------------------------------------------------------------------------------------------------------


def _gather(op: Any, p: Padder) -> None:
    """Indices in the padding must be valid."""
    op.set_operand(1, p.fill(op.indices, p.sources[1], 0))


def _trans(op: Any, p: Padder) -> None:
    number = p.filled.get(op.src)
    if number is not None:
        p.filled[op.result] = number


def decompose_cat(op: tt.Cat) -> None:
    """A concatenation as a join of both tiles, with the new dimension moved to the front."""
    ty: Any = op.lhs.type
    if op.rhs.type is not ty:
        raise UnsupportedOperation(op, "of tiles of different shapes requires powers of two")
    b = Builder(op.parent, op, op.loc)
    rank = ty.rank
    joined = b.add(tt.Join(op.lhs, op.rhs, result=TensorType((*ty.shape, 2), ty.element)))
    turned = b.add(tt.Trans(joined, [rank, *range(rank)]))
    op.replace_with([b.add(tt.Reshape(turned, result=op.result.type))])


RESHAPING: dict[type, Any] = {
    tt.MakeRange: _range,
    arith.Constant: _constant,
    tt.Reshape: _reshape,
    tt.Gather: _gather,
    tt.Trans: _trans,
}
