"""dce: remove operations whose results nobody uses and that at most read memory.

One sweep from the end to the front: an operation is seen after all that use it, so that a dead chain goes at once.
Values that a loop only carries around for themselves are canonicalize's matter.
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
