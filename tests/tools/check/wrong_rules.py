"""Wrong rewrite rules, to be found by the check of a launch."""

from __future__ import annotations

from typing import Any

from tritium.dialects import arith
from tritium.dialects import tt as tile
from tritium.ir import rule


def reversed_difference() -> Any:
    """A new rule that exchanges the operands of each subtraction once."""
    made: list[Any] = []

    @rule(arith.SubF)
    def reversed_difference(op: Any) -> Any:
        """x - y = y - x"""
        if any(op is one for one in made):
            return None
        made.append(arith.SubF(op.rhs, op.lhs))
        return made[-1]

    return reversed_difference


@rule(tile.Load)
def from_zero(op: Any) -> Any:
    """load(p, m, -inf) = load(p, m, 0)"""
    other = op.other.defining_op if op.other is not None else None
    if not isinstance(other, arith.Constant) or other.splat_value() != -float("inf"):
        return None
    zero = arith.Constant.of(0.0, op.other.type)
    return tile.Load(op.ptr, op.mask, zero.result)


@rule(tile.Load)
def unmasked(op: Any) -> Any:
    """load(p, m) = load(p)"""
    return None if op.mask is None else tile.Load(op.ptr)
