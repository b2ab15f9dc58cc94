"""Where addresses are probably contiguous: the stride of a tensor of integers or pointers along each axis, mostly.

    w = (start + arange(0, 128)) % out_width          likely stride 1, but for one jump per row of the image
    h = (start + arange(0, 128)) // out_width         likely stride 0

`axis_info` proves contiguity, which vector widths need. Which axis adjacent threads should follow is no question of
correctness, so that here `%` keeps a stride and `//` drops it, whatever the divisor: addresses of convolutions, and of
batched tensors whose leading dimensions are fused, are contiguous for runs of unknown length.
"""

from __future__ import annotations

from collections.abc import Callable

from ..dialects import arith, tt, ttg
from ..ir import BlockArgument, Operation, RegionBranch, TensorType, Value, shape_of

__all__ = ["LikelyStrides"]

Strides = tuple[int | None, ...]
"""Per axis: elements between neighbors, None where unknown."""

MAX_DEPTH = 200
"""Operations between an address and its origin beyond which strides are unknown."""


class LikelyStrides:
    """The likely strides of values, each computed once."""

    def __init__(self) -> None:
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
        rule = _RULES.get(op.__class__)
        return None if rule is None else rule(op, [self.of(v, depth) for v in op.operands])


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


def _sum(op: Operation, of: list[Strides]) -> Strides:
    sign = -1 if isinstance(op, arith.SubI) else 1
    return tuple(None if a is None or b is None else a + sign * b for a, b in zip(*of))


def _scaled(op: Operation, of: list[Strides]) -> Strides:
    """A multiple by a constant; with another uniform value the axes without a stride stay so."""
    for value, strides in zip(reversed(op.operands), of):
        factor = _constant(value)
        if factor is not None:
            return tuple(None if s is None else s * factor for s in strides)
    return tuple(0 if a == b == 0 else None for a, b in zip(*of))


def _constant(value: Value) -> int | None:
    op: Operation | None = value.defining_op
    if isinstance(op, tt.Splat):
        op = op.src.defining_op
    number = op.splat_value() if isinstance(op, arith.Constant) else None
    return number if isinstance(number, int) else None


def _same(_: Operation, of: list[Strides]) -> Strides:
    return of[0]


def _dropped(_: Operation, of: list[Strides]) -> Strides:
    return tuple(None if s is None else 0 for s in of[0])


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
    arith.MulI: _scaled,
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
