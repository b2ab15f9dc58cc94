"""Where addresses are probably contiguous: the stride of a tensor of integers or pointers along each axis, mostly.

    w = (start + arange(0, 128)) % out_width          likely stride 1, but for one jump per row of the image
    h = (start + arange(0, 128)) // out_width         likely stride 0
    c = arange(0, 32) * stride_c                      a multiple of what divides stride_c

`axis_info` proves contiguity, which vector widths need. Which axis adjacent threads should follow is no question of
correctness, so that here `%` keeps a stride and `//` drops it, whatever the divisor: addresses of convolutions, and of
batched tensors whose leading dimensions are fused, are contiguous for runs of unknown length.

Of two strides known only at run time, that with the smaller divisor is likely the smaller one: in a dense tensor each
stride is a multiple of those inside it, so that whatever divides an inner stride divides an outer one, too.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import NamedTuple

from ..dialects import arith, tt, ttg
from ..ir import BlockArgument, Operation, RegionBranch, TensorType, Value, shape_of
from .axis_info import AxisInfoAnalysis

__all__ = ["LikelyStrides", "MultipleOf"]


class MultipleOf(NamedTuple):
    """A stride known only at run time, and what divides it."""

    divisor: int


Stride = int | MultipleOf | None
Strides = tuple[Stride, ...]
"""Per axis: elements between neighbors, None where unknown even at run time."""

MAX_DEPTH = 200
"""Operations between an address and its origin beyond which strides are unknown."""


class LikelyStrides:
    """The likely strides of values, each computed once; `facts` has the divisors of runtime strides."""

    def __init__(self, facts: AxisInfoAnalysis) -> None:
        self._facts = facts
        self._known: dict[Value, Strides] = {}

    def of(self, value: Value, depth: int = 0) -> Strides:
        """The likely strides of `value`; () for a scalar."""
        found = self._known.get(value)
        if found is None:
            rank = len(shape_of(value.type)) if isinstance(value.type, TensorType) else 0
            unknown: Strides = (None,) * rank
            if rank == 0 or depth > MAX_DEPTH:
                return unknown
            self._known[value] = unknown  # where a value depends on itself
            found = self._known[value] = self._compute(value, depth + 1) or unknown
        return found

    def _compute(self, value: Value, depth: int) -> Strides | None:
        op = value.defining_op
        if op is None:
            initial = _initial(value)
            return None if initial is None else self.of(initial, depth)
        if isinstance(op, arith.MulI):
            return self._scaled(op, depth)
        rule = _RULES.get(op.__class__)
        return None if rule is None else rule(op, [self.of(v, depth) for v in op.operands])

    def _scaled(self, op: arith.MulI, depth: int) -> Strides:
        """A multiple by a uniform value; otherwise unknown along axes on which a factor varies."""
        of = [self.of(value, depth) for value in op.operands]
        for value, uniform, strides in zip(op.operands, of, reversed(of)):
            if not any(stride != 0 for stride in uniform):
                info = self._facts.of(value)
                factor = MultipleOf(info.divisibility[0]) if info.constant is None else info.constant
                return tuple(_times(stride, factor) for stride in strides)
        return tuple(0 if a == b == 0 else None for a, b in zip(*of))


def _initial(value: Value) -> Value | None:
    """The operand that a value carried by a loop starts as."""
    around = value.owner.parent_op if isinstance(value, BlockArgument) else None
    if not isinstance(around, RegionBranch) or not isinstance(value, BlockArgument):
        return None
    uses = around.predecessor_operands(value) or []
    return next((op.operands[index] for op, index in uses if op is around), None)


Rule = Callable[[Operation, list[Strides]], Strides | None]


def _zeros(op: Operation, _: list[Strides]) -> Strides:
    return (0,) * len(shape_of(op.results[0].type))


def _times(stride: Stride, factor: int | MultipleOf) -> Stride:
    """The stride of values with `stride` times a factor."""
    if stride is None or stride == 0:
        return stride
    if isinstance(stride, int) and isinstance(factor, int):
        return stride * factor
    return MultipleOf(_divisor(stride) * _divisor(factor))


def _divisor(stride: int | MultipleOf) -> int:
    return stride.divisor if isinstance(stride, MultipleOf) else abs(stride)


def _sum(op: Operation, of: list[Strides]) -> Strides:
    sign = -1 if isinstance(op, arith.SubI) else 1

    def add(a: Stride, b: Stride) -> Stride:
        if a is None or b is None:
            return None
        if isinstance(a, int) and isinstance(b, int):
            return a + sign * b
        return MultipleOf(gcd(_divisor(a), _divisor(b)))

    return tuple(add(a, b) for a, b in zip(*of))


def _same(_: Operation, of: list[Strides]) -> Strides:
    return of[0]


def _dropped(_: Operation, of: list[Strides]) -> Strides:
    return tuple(0 if isinstance(s, int) else None for s in of[0])


def _merged(_: Operation, of: list[Strides]) -> Strides:
    return tuple(a if a == b else None for a, b in zip(*of[-2:]))


def _expanded(op: Operation, of: list[Strides]) -> Strides:
    assert isinstance(op, tt.ExpandDims)
    return (*of[0][: op.axis], 0, *of[0][op.axis :])


def _broadcast(op: Operation, of: list[Strides]) -> Strides:
    return tuple(0 if n == 1 else s for n, s in zip(shape_of(op.operands[0].type), of[0]))


def _transposed(op: Operation, of: list[Strides]) -> Strides:
    assert isinstance(op, tt.Trans)
    return tuple(of[0][axis] for axis in op.order)


_RULES: dict[type, Rule] = {
    arith.Constant: _zeros,
    tt.Splat: _zeros,
    tt.MakeRange: lambda *_: (1,),
    arith.AddI: _sum,
    arith.SubI: _sum,
    tt.AddPtr: _sum,
    arith.RemSI: _same,
    arith.RemUI: _same,
    arith.DivSI: _dropped,
    arith.DivUI: _dropped,
    arith.ExtSI: _same,
    arith.ExtUI: _same,
    arith.TruncI: _same,
    arith.Select: _merged,
    tt.Bitcast: _same,
    tt.ExpandDims: _expanded,
    tt.Broadcast: _broadcast,
    tt.Trans: _transposed,
    ttg.ConvertLayout: _same,
}
