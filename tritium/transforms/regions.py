"""What several passes do with regions: splice a block into another, rebuild a loop or branch with other results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..dialects import scf
from ..ir import Block, Operation, OpResult, Region, Type, Value

__all__ = ["add_result", "defined_in", "is_inside", "rebuild_for", "rebuild_if", "splice"]


def splice(block: Block, anchor: Operation, values: Sequence[Value]) -> tuple[list[Operation], list[Value]]:
    """Move the operations of `block` before `anchor`, with `values` for its arguments; the terminator is erased.

    The moved operations and the terminator's operands (as they are outside) are returned.
    """
    for arg, value in zip(block.args, values, strict=True):
        arg.replace_all_uses_with(value)
    terminator = block.last
    assert terminator is not None
    results = list(terminator.operands)
    terminator.erase()
    moved = list(block)
    for op in moved:
        op.move_before(anchor)
    return moved, results


def is_inside(op: Operation | None, region: Region) -> bool:
    """True when `op` is in a block of `region`, at any depth."""
    while op is not None:
        block = op.parent
        if block is None:
            return False
        if block.parent is region:
            return True
        op = block.parent_op
    return False


def defined_in(value: Value, op: Operation) -> bool:
    """True when `value` is made by an operation nested in `op`, or is an argument of a block nested in it."""
    block = value.block
    while block is not None:
        parent = block.parent_op
        if parent is op:
            return True
        block = None if parent is None else parent.parent
    return False


def _without(values: Sequence[Any], dropped: Iterable[int]) -> list[Any]:
    gone = set(dropped)
    return [v for i, v in enumerate(values) if i not in gone]


def _take_regions(op: Operation) -> list[Region]:
    regions, op.regions = op.regions, []
    return regions


def add_result(op: Operation, ty: Type, terminators: Sequence[Operation], values: Sequence[Value]) -> OpResult:
    """Give an operation one more result of type `ty`, which its blocks hand on as `values`, one a terminator."""
    for terminator, value in zip(terminators, values, strict=True):
        terminator.set_operands([*terminator.operands, value])
    new = OpResult(op, len(op.results), ty)
    op.results.append(new)
    return new


def rebuild_for(op: scf.For, replaced: dict[int, Value]) -> tuple[scf.For, list[Value]]:
    """A loop (in no block yet) with the body of `op` and without the loop-carried values numbered in `replaced`.

    Inside, the value of `replaced` stands for each one that went; the second result has one value for each result
    of `op`: of the new loop, or None where it went.
    """
    body = op.body
    for i, value in replaced.items():
        body.args[i + 1].replace_all_uses_with(value)
    terminator = body.last
    assert terminator is not None
    terminator.set_operands(_without(terminator.operands, replaced))
    for i in sorted(replaced, reverse=True):
        body.erase_argument(i + 1)
    operands = [*op.operands[:3], *_without(op.operands[3:], replaced)]
    types = [r.type for r in _without(op.results, replaced)]
    new = scf.For.create(operands, types, dict(op.attributes), _take_regions(op), loc=op.loc)
    return new, _spread(new, op, replaced)


def rebuild_if(op: scf.If, dropped: Iterable[int]) -> tuple[scf.If, list[Value]]:
    """An `if` (in no block yet) with the branches of `op` and without the results numbered in `dropped`."""
    dropped = list(dropped)
    for region in op.regions:
        for block in region.blocks:
            assert block.last is not None
            block.last.set_operands(_without(block.last.operands, dropped))
    types = [r.type for r in _without(op.results, dropped)]
    new = scf.If.create(list(op.operands), types, dict(op.attributes), _take_regions(op), loc=op.loc)
    return new, _spread(new, op, dropped)


def _spread(new: Operation, old: Operation, dropped: Iterable[int]) -> list[Any]:
    gone, results = set(dropped), iter(new.results)
    spread: list[Any] = [None if i in gone else next(results) for i in range(len(old.results))]
    for value, before in zip(spread, old.results):
        if value is not None:
            value.hint = before.hint
    return spread
