"""Uses of a WGMMA's result in an iteration: where it is first read, which WGMMA extends it, what carries it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ....dialects import ttng
from ....ir import CountedLoop, IfLike, Operation, Value
from ....ir.dominance import ancestor_in
from ....support.dataclasses import dataclass, field
from .lhs_registers import is_renaming

__all__ = ["ResultUses", "result_uses"]


@dataclass
class ResultUses:
    """The uses of a result within an iteration, in order.

    `read`: the first operation of the body that reads it, under `names`; `extended_by`: the WGMMA that adds to it;
    `carried`: the index of the carried value that it becomes. `branches` may read it before that, each under a name.
    """

    read: Any = None
    names: dict[Value, None] = field(default_factory=dict)
    extended_by: Any = None
    carried: int | None = None
    branches: dict[Any, Value] = field(default_factory=dict)


class _Use(NamedTuple):
    """Operand `number` of `op` is the result under one of its names, `value`; `top` is around it in the body."""

    top: Any
    op: Any
    number: int
    value: Value


def result_uses(loop: CountedLoop, position: dict[Operation, int], value: Value) -> ResultUses:
    """The uses of a WGMMA's result, or of a carried value, in an iteration; `position` has the body's operations."""
    uses = sorted(_uses(loop, value), key=lambda use: position[use.top])
    found = ResultUses()
    for i, use in enumerate(uses):
        top = use.top
        if top is use.op and use is uses[-1]:
            if top.__class__ is ttng.WarpGroupDot and use.number == 2:
                found.extended_by = top
                return found
            if top is loop.terminator:
                found.carried = use.number
                return found
        if top is use.op or not _may_wait_inside(use) or found.branches.get(top, use.value) is not use.value:
            found.read = top
            found.names = dict.fromkeys(use.value for use in uses[i:] if _is_before(position, use.value, top))
            return found
        found.branches[top] = use.value
    if uses:  # nothing would wait where no branch that reads it is taken
        found.read, name = found.branches.popitem()
        found.names = {name: None}
    return found


def _is_before(position: dict[Operation, int], value: Value, op: Operation) -> bool:
    """Whether a value of the body is defined before an operation of it."""
    return value.defining_op is None or position[value.defining_op] < position[op]


def _uses(loop: CountedLoop, value: Value) -> Iterator[_Use]:
    """Uses of a value under all its names: results of what renames registers, and of branches that yield it."""
    for op, number in value.uses:
        top = ancestor_in(loop.regions[0], op)
        renamed = list(_uses(loop, op.results[0])) if top is op and is_renaming(op) else []
        if renamed and all(_extends_or_carries(use) for use in renamed):
            yield from renamed
            continue
        yield _Use(top, op, number, value)
        if isinstance(top, IfLike) and _is_yield_of(op, top):
            yield from _uses(loop, top.results[number])


def _is_yield_of(op: Any, branch: Any) -> bool:
    return op.parent_op is branch and op is op.parent.last


def _extends_or_carries(use: _Use) -> bool:
    if use.op.__class__ is ttng.WarpGroupDot:
        return use.number == 2
    return isinstance(use.op.parent_op, (CountedLoop, IfLike)) and _is_yield_of(use.op, use.op.parent_op)


def _may_wait_inside(use: _Use) -> bool:
    """Whether a use in a branch can wait there; where the branch yields the value, each block must do so or wait."""
    if not isinstance(use.top, IfLike):
        return False
    if not _is_yield_of(use.op, use.top):
        return True
    blocks = [region.block for region in use.top.regions]
    if any(sum(v is use.value for v in block.last.operands) > 1 for block in blocks):  # type: ignore[union-attr]
        return False
    return all(
        block.last.operands[use.number] is use.value  # type: ignore[union-attr]
        or any(ancestor_in(use.top.regions[i], op) for op in use.value.users)
        for i, block in enumerate(blocks)
    )
