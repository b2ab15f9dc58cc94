"""Utilities for regions: splice a block into another, add a result, test containment."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Block, Operation, OpResult, Region, Type, Value

__all__ = ["add_result", "defined_in", "is_inside", "splice"]


def splice(block: Block, anchor: Operation, values: Sequence[Value]) -> tuple[list[Operation], list[Value]]:
    """Move the operations of `block` before `anchor`, with `values` for its arguments; the terminator is erased.

    Returns the moved operations and the terminator's operands (as they are outside).
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
    """True when `value` is defined by an operation nested in `op`, or is an argument of a block nested in it."""
    block = value.block
    while block is not None:
        parent = block.parent_op
        if parent is op:
            return True
        block = None if parent is None else parent.parent
    return False


def add_result(op: Operation, ty: Type, terminators: Sequence[Operation], values: Sequence[Value]) -> OpResult:
    """Give an operation one more result of type `ty`, which its blocks yield as `values`, one per terminator."""
    for terminator, value in zip(terminators, values, strict=True):
        terminator.set_operands([*terminator.operands, value])
    new = OpResult(op, len(op.results), ty)
    op.results.append(new)
    return new
