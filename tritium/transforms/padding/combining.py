"""Reductions and scans exclude the padding.

Where the combine function is one operation, the padding is filled with its identity (-0.0 for a sum: x + -0.0 is x, for
zeros of either sign too). Any other function gets a flag beside its operands, which is false in the padding:

    combine((a…, v), (b…, w)) = (f(a…, b…) where v and w, b… where only w, a… elsewhere;  v or w)

A forward scan needs neither: the padding comes last.
"""

from __future__ import annotations

import math
from typing import Any

from ...analysis.combine import combine_of
from ...dialects import arith, tt
from ...ir import (
    Branch,
    FloatType,
    IntegerType,
    TensorType,
    Value,
    element_type,
    i1,
    is_unbounded_loop,
    shape_of,
)
from ...support import UnsupportedOperation
from ..rules.constants import FOLDABLE_FLOATS
from .shapes import Padder, Shape, padded, uneven

__all__ = ["COMBINING", "keeps_lanes"]

_FLOATS = {
    "arith.addf": -0.0,
    "arith.mulf": 1.0,
    "arith.maxnumf": math.nan,  # the other operand wins against NaN
    "arith.maximumf": -math.inf,
    "arith.minnumf": math.nan,
    "arith.minimumf": math.inf,
}
_INTEGERS = {"arith.addi": 0, "arith.muli": 1, "arith.andi": -1, "arith.ori": 0, "arith.xori": 0}
_INTEGERS |= {"arith.maxui": 0, "arith.minui": -1}


def _identity(operation: str | None, element: Any) -> float | None:
    """The identity of an operation for an element type; None where none is known."""
    if operation is None:
        return None
    if isinstance(element, FloatType):
        return _FLOATS.get(operation) if element.name in FOLDABLE_FLOATS else None
    if not isinstance(element, IntegerType) or element is i1:
        return None
    least = -1 << (element.width - 1)
    return {"arith.maxsi": least, "arith.minsi": -least - 1}.get(operation, _INTEGERS.get(operation))


def keeps_lanes(op: Any) -> bool:
    """Whether all users of a reshape to one dimension are reductions, of tiles of one shape.

    The elements keep their order, and the reductions exclude the padding between them.
    """
    if len(shape_of(op.result.type)) != 1 or not op.result.users:
        return False
    shape = shape_of(op.src.type)
    for user in op.result.users:
        makers = [v.defining_op for v in user.operands]
        if not isinstance(user, tt.Reduce) or not all(
            isinstance(m, tt.Reshape) and shape_of(m.src.type) == shape for m in makers
        ):
            return False
    return True


def _reduce(op: Any, p: Padder) -> None:
    _refuse_loops(op)
    lanes = p.lanes.get(op.srcs[0])
    if lanes is None and not uneven([p.sources[0][op.axis]]):
        return
    number = _identity(combine_of(op.regions[0].entry).operation, element_type(op.srcs[0].type))
    if number is None:
        _with_flags(op, p, p.inside(p.sources[0]) if lanes is None else _inside_lanes(p, lanes))
    elif lanes is None:
        op.set_operand(0, p.fill(op.srcs[0], p.sources[0], number, [op.axis]))
    else:  # before the reshape, so that the reduction stays its only user
        source: Any = op.srcs[0].defining_op
        filled = p.fill(source.src, lanes, number)
        op.set_operand(0, p.reshaped(filled, shape_of(op.srcs[0].type)))


def _inside_lanes(p: Padder, lanes: Shape) -> Value:
    inside = p.inside(lanes)
    assert inside is not None
    return p.reshaped(inside, (math.prod(padded(lanes)),))


def _scan(op: Any, p: Padder) -> None:
    _refuse_loops(op)
    if not op.reverse or not uneven([p.sources[0][op.axis]]):
        return
    number = _identity(combine_of(op.regions[0].entry).operation, element_type(op.srcs[0].type))
    if number is None:
        _with_flags(op, p, p.inside(p.sources[0]))
    else:
        op.set_operand(0, p.fill(op.srcs[0], p.sources[0], number, [op.axis]))


def _refuse_loops(op: Any) -> None:
    """Refuse a loop in a combine function, which might not terminate for the padding."""
    for inner in op.walk():
        if is_unbounded_loop(inner) or isinstance(inner, (Branch, tt.Call)):
            raise UnsupportedOperation(
                op, "with a loop or call in its function requires shapes of powers of two: pad the block yourself"
            )


def _with_flags(op: Any, p: Padder, inside: Value | None) -> None:
    """The same operation with flags beside its operands."""
    assert inside is not None
    region = op.regions[0]
    op.regions.clear()
    _combine_flags(region.entry, p)
    flag = inside.type if isinstance(op, tt.Scan) else _without(inside.type, op.axis)
    types = [*(r.type for r in op.results), flag]
    new = op.__class__.create([*op.srcs, inside], types, dict(op.attributes), [region], loc=op.loc)
    p.insert(new)
    for old, made in zip(op.results, new.results):
        made.hint = old.hint
    op.replace_with(new.results[:-1])


def _without(ty: Any, axis: int) -> Any:
    shape = (*ty.shape[:axis], *ty.shape[axis + 1 :])
    return TensorType(shape, ty.element) if shape else ty.element


def _combine_flags(block: Any, p: Padder) -> None:
    """Add a flag to both sides of a reduction's function."""
    n = len(block.args) // 2
    left = block.insert_argument(n, i1)
    right = block.add_argument(i1)
    left.loc = right.loc = block.args[0].loc
    first, second = block.args[:n], block.args[n + 1 : 2 * n + 1]
    last = block.last
    p.block, p.before, p.loc = block, last, last.loc
    values = []
    for a, b, both in zip(first, second, last.operands):
        chosen = p.add(arith.Select(left, both, b))
        values.append(p.add(arith.Select(right, chosen, a)))
    last.set_operands([*values, p.add(arith.OrI(left, right))])
    p.block, p.before, p.loc = p.op.parent, p.op, p.op.loc


COMBINING: dict[type, Any] = {tt.Reduce: _reduce, tt.Scan: _scan}
