"""reorder-broadcast: Sink splats and broadcasts below elementwise operations.

    addi(splat(x), splat(y))          => splat(addi(x, y))
    addi(splat(x), dense<c>)          => splat(addi(x, c))
    mulf(broadcast(a), broadcast(b))  => broadcast(mulf(a, b))       where a and b have one shape
    mulf(broadcast(a), splat(x))      => broadcast(mulf(a, splat(x)))

for every pure elementwise operation. Shapes of splats and broadcasts are simplified as well.
"""

from __future__ import annotations

from typing import Any

from ..dialects import tt
from ..ir import (
    ELEMENTWISE,
    PURE,
    Operation,
    RuleTable,
    TensorType,
    Value,
    element_type,
    functions_of,
    pass_on,
    rewrite_greedily,
    rule,
    with_element,
)
from .rules.arith import constant_right
from .rules.constants import constant, splat_of
from .rules.tt import SHAPE_RULES

__all__ = ["REORDER_RULES", "reorder_broadcast"]


def _scalar(value: Value) -> Value | None:
    """The scalar that every element of a tensor is known to equal; a scalar is its own."""
    if not isinstance(value.type, TensorType):
        return value
    op = value.defining_op
    if op.__class__ is tt.Splat:
        scalar = op.operands[0]  # type: ignore[union-attr]
        return None if isinstance(scalar.type, TensorType) else scalar
    number = splat_of(value)
    return None if number is None else constant(number, element_type(value.type))


@rule(traits=PURE | ELEMENTWISE)
def splat_after_elementwise(op: Any) -> Any:
    """f(splat(x), splat(y)) = splat(f(x, y)), constants are splats too"""
    if len(op.results) != 1 or not op.operands or not isinstance(op.result.type, TensorType):
        return None
    scalars = [_scalar(v) for v in op.operands]
    if None in scalars:
        return None
    inner = type(op).create(scalars, [element_type(op.result.type)], dict(op.attributes), loc=op.loc)
    return tt.Splat(inner.results[0], result=op.result.type)


@rule(traits=PURE | ELEMENTWISE)
def broadcast_after_elementwise(op: Any) -> Any:
    """f(broadcast(a), broadcast(b), splat(x)) = broadcast(f(a, b, splat(x))), a and b of one shape"""
    if len(op.results) != 1 or not isinstance(op.result.type, TensorType):
        return None
    sources = {v.defining_op.src.type for v in op.operands if v.defining_op.__class__ is tt.Broadcast}
    if len({(ty.shape, ty.encoding) for ty in sources}) != 1:
        return None
    small = with_element(sources.pop(), element_type(op.result.type))
    narrowed = []
    for v in op.operands:
        if v.defining_op.__class__ is tt.Broadcast:
            narrowed.append(v.defining_op.src)
        elif not isinstance(v.type, TensorType):
            narrowed.append(v)
        else:
            scalar = _scalar(v)
            if scalar is None:
                return None
            narrowed.append(tt.Splat(scalar, result=with_element(small, scalar.type)).result)
    inner = type(op).create(narrowed, [small], dict(op.attributes), loc=op.loc)
    return tt.Broadcast(inner.results[0], result=op.result.type)


REORDER_RULES = [splat_after_elementwise, broadcast_after_elementwise]
_TABLE = RuleTable([*REORDER_RULES, constant_right, *SHAPE_RULES])


@pass_on("function")
def reorder_broadcast(op: Operation) -> bool:
    """Sink splats and broadcasts below elementwise operations in a function, or in all functions of a module."""
    changed = False
    for func in functions_of(op):
        changed |= rewrite_greedily(func, _TABLE)
    return changed
