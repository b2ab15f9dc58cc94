"""dce: Remove operations without users whose only effect is to read memory.

One backward sweep: an operation is visited after all its users, so that a dead chain is removed at once. Dead
loop-carried values are left to canonicalize.
"""

from __future__ import annotations

from ..ir import TERMINATOR, Block, Operation, count, functions_of, is_trivially_dead, may_change, pass_on

__all__ = ["dce"]


@pass_on("function")
def dce(op: Operation) -> bool:
    """Remove dead operations from a function, or from all functions of a module."""
    removed = 0
    for func in functions_of(op):
        for region in func.regions:
            for block in reversed(region.blocks):
                removed += _sweep(block)
    count("operations removed", removed)
    return removed > 0


def _sweep(block: Block) -> int:
    removed = 0
    op = block.last
    while op is not None:
        before = op.prev
        if not op.traits & TERMINATOR and is_trivially_dead(op) and may_change("erase", op):
            op.erase()
            removed += 1
        else:
            for region in op.regions:
                for inner in reversed(region.blocks):
                    removed += _sweep(inner)
        op = before
    return removed
