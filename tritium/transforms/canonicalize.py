"""canonicalize: all rules until none matches, and blocks that nothing reaches removed.

What it leaves is a normal form that other passes count on: constants at the front of the function, each once, and on
the right of commutative operations; no dead pure operations; no branch or loop whose course is known; loops carry
only values that change and are needed. Running it twice changes nothing more.
"""

from __future__ import annotations

from ..dialects import cf
from ..ir import Block, Operation, Region, RuleTable, functions_of, pass_on, rewrite_greedily
from .rules import CANONICAL_RULES

__all__ = ["canonicalize", "simplify_blocks"]

_TABLE = RuleTable(CANONICAL_RULES)


@pass_on("function")
def canonicalize(op: Operation) -> bool:
    """Bring a function, or all functions of a module, into normal form."""
    changed = False
    for func in functions_of(op):
        while True:
            again = rewrite_greedily(func, _TABLE)
            for region in func.regions:
                if len(region.blocks) > 1:
                    again |= simplify_blocks(region)
                    changed |= again
            if not again or all(len(r.blocks) == 1 for r in func.regions):
                changed |= again
                break
    return changed


def simplify_blocks(region: Region) -> bool:
    """Remove blocks that cannot be reached, and join a block to the only one that leads to it."""
    changed = False
    reached = _reachable(region.blocks[0])
    for block in [b for b in region.blocks if b not in reached]:
        for op in block:
            op.drop_references()
        region.blocks.remove(block)
        block.parent = None
        changed = True
    for block in list(region.blocks):
        while block.parent is region and _join_successor(region, block):
            changed = True
    return changed


def _reachable(entry: Block) -> set[Block]:
    reached, work = {entry}, [entry]
    while work:
        last = work.pop().last
        for successor in last.successors if last is not None else []:
            if successor not in reached:
                reached.add(successor)
                work.append(successor)
    return reached


def _join_successor(region: Region, block: Block) -> bool:
    last = block.last
    if last.__class__ is not cf.Br:
        return False
    target = last.successors[0]  # type: ignore[union-attr]
    arrivals = sum(s is target for b in region.blocks if b.last is not None for s in b.last.successors)
    if arrivals != 1 or target is block or target is region.blocks[0]:
        return False
    for arg, value in zip(target.args, list(last.operands)):  # type: ignore[union-attr]
        arg.replace_all_uses_with(value)
    last.erase()  # type: ignore[union-attr]
    for op in list(target):
        op.detach()
        block.append(op)
    region.blocks.remove(target)
    target.parent = None
    return True
