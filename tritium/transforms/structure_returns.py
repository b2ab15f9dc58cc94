"""structure-returns: Convert branches between blocks to nested `scf.if`, so that a function is one block.

    ^entry: cf.cond_br %c, ^a, ^b              %r = scf.if %c {  …a…  scf.yield %x }
    ^a: …  tt.return %x                 =>              else {  …b…  scf.yield %y }
    ^b: …  tt.return %y                        tt.return %r

Such branches come from early returns in parsed text, such as Triton's; our frontend lowers early returns before it
emits IR (`frontend/desugar`). A block with several predecessors is duplicated; cycles of blocks are kept. The
conversion to loops for the CPU (`conversion/tt_to_ttc`) runs it first, since it supports structured control flow only.
"""

from __future__ import annotations

from typing import Any

from ..dialects import cf, scf, tt
from ..ir import Block, Builder, Operation, Region, Value, pass_on

__all__ = ["structure_returns"]


@pass_on("function")
def structure_returns(func: Operation) -> bool:
    """Restructure one function."""
    region = func.regions[0]
    if len(region.blocks) < 2 or _has_cycle(region.blocks[0], set()):
        return False
    entry = region.blocks[0]
    fresh = Block()
    mapping: dict[Any, Any] = {}
    for arg in entry.args:
        mapping[arg] = new = fresh.add_argument(arg.type, arg.loc)
        new.hint = arg.hint
    values = _copy(entry, fresh, mapping)
    Builder(fresh).insert(tt.Return(values))
    for block in region.blocks:
        for op in block:
            op.drop_references()
    region.blocks.clear()
    region.append(fresh)
    return True


def _has_cycle(block: Block, above: set[Block]) -> bool:
    last = block.last
    assert last is not None
    return block in above or any(_has_cycle(b, above | {block}) for b in last.successors)


def _copy(block: Block, target: Block, mapping: dict[Any, Any]) -> list[Value]:
    """Append a copy of `block` and of all its successors to `target`; returns the values that the function returns
    there."""
    b = Builder(target)
    for op in block:
        if isinstance(op, tt.Return):
            return [mapping.get(v, v) for v in op.srcs]
        if isinstance(op, cf.Br):
            return _follow(op.dest, op.dest_operands, target, mapping)
        if isinstance(op, cf.CondBr):
            return _branch(op, b, mapping)
        b.insert(op.clone(mapping))
    raise AssertionError("a block without a terminator")


def _follow(dest: Block, operands: list[Value], target: Block, mapping: dict[Any, Any]) -> list[Value]:
    mapping = dict(mapping)
    mapping.update(zip(dest.args, [mapping.get(v, v) for v in operands]))
    return _copy(dest, target, mapping)


def _branch(op: cf.CondBr, b: Builder, mapping: dict[Any, Any]) -> list[Value]:
    condition = mapping.get(op.condition, op.condition)
    then, other = Block(), Block()
    for block, dest, operands in ((then, op.true_dest, op.true_operands), (other, op.false_dest, op.false_operands)):
        results = _follow(dest, operands, block, mapping)
        Builder(block).insert(scf.Yield(results))
    assert then.last is not None
    types = [v.type for v in then.last.operands]
    return list(b.insert(scf.If(condition, Region(then), Region(other), results_=types, loc=op.loc)).results)
