"""canonicalize: all rules until none matches, and blocks that nothing reaches removed.

What it leaves is a normal form that other passes count on: constants at the front of the function, each once, and on
the right of commutative operations; no dead pure operations; no branch or loop whose course is known; loops carry
only values that change and are needed. Running it twice changes nothing more.
"""

from __future__ import annotations

import enum
from contextlib import nullcontext
from dataclasses import dataclass

from ..dialects import cf
from ..ir import Block, Operation, Region, RuleTable, functions_of, pass_on, rewrite_greedily
from ..ir.rewriter import spending_at_most
from ..support import InternalError
from .cse import cse
from .rules import CANONICAL_RULES

__all__ = ["CanonicalizeOptions", "RegionSimplify", "canonicalize", "simplify_blocks"]

_TABLE = RuleTable(CANONICAL_RULES)


class RegionSimplify(enum.Enum):
    """What is done to blocks. MLIR's "aggressive" also merges equal blocks; here it is as "normal"."""

    NORMAL = "normal"
    AGGRESSIVE = "aggressive"
    DISABLED = "disabled"


@dataclass(frozen=True)
class CanonicalizeOptions:
    """MLIR's options of this pass.

    `max_iterations`: rounds of rules and blocks (-1: until nothing changes, the default here; MLIR's is 10);
    `max_num_rewrites`: rewrites (-1: any number); `top_down`: begin with the first operation; `region_simplify`: what
    is done to blocks; `test_convergence`: fail when the rounds were not enough; `cse_between_iterations`: run cse after
    each round.
    """

    max_iterations: int = -1
    max_num_rewrites: int = -1
    top_down: bool = True
    region_simplify: RegionSimplify = RegionSimplify.NORMAL
    test_convergence: bool = False
    cse_between_iterations: bool = False


@pass_on("function")
def canonicalize(op: Operation, options: CanonicalizeOptions = CanonicalizeOptions()) -> bool:
    """Bring a function, or all functions of a module, into normal form."""
    changed = False
    for func in functions_of(op):
        limited = options.max_num_rewrites >= 0
        with spending_at_most(options.max_num_rewrites) if limited else nullcontext():
            changed |= _canonicalize(func, options)
    return changed


def _canonicalize(func: Operation, options: CanonicalizeOptions) -> bool:
    blocks = options.region_simplify is not RegionSimplify.DISABLED
    changed, rounds = False, 0
    while rounds != options.max_iterations:
        rounds += 1
        again = rewrite_greedily(func, _TABLE, top_down=options.top_down)
        several = [r for r in func.regions if len(r.blocks) > 1] if blocks else []
        for region in several:
            again |= simplify_blocks(region)
        if options.cse_between_iterations:
            again |= cse(func)
        changed |= again
        if not again or not (several or options.cse_between_iterations):
            return changed
    if options.test_convergence and rewrite_greedily(func, _TABLE):
        raise InternalError(f"canonicalize: {options.max_iterations} iterations were not enough")
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
