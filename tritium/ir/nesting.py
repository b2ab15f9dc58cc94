"""Depth of nested regions, and the error for IR that is nested too deeply to be processed."""

from __future__ import annotations

from ..support import UnsupportedOperation
from ..support.recursion import NestedTooDeeply, too_deep_text
from .operation import Operation

__all__ = ["TooDeepOperation", "deepest_operation", "too_deep"]


class TooDeepOperation(UnsupportedOperation, NestedTooDeeply):
    """IR is nested too deeply; `op` is the operation with the most regions around it."""


def deepest_operation(root: Operation) -> tuple[Operation, int]:
    """The first of the most deeply nested operations in `root`, and how many regions are around it. Never recurses."""
    level: list[Operation] = [root]
    depth = 0
    while True:
        inner = [op for outer in level for region in outer.regions for block in region.blocks for op in block]
        nested = [op for op in inner if op.regions]
        if not nested:
            return (inner[0], depth + 1) if inner else (level[0], depth)
        level, depth = nested, depth + 1


def too_deep(root: Operation, what: str) -> TooDeepOperation:
    """The error, at the deepest operation, for `root` when `what` (a pass, a stage) reaches the recursion limit."""
    op, depth = deepest_operation(root)
    return TooDeepOperation(op, f"is in {depth:,} nested regions, {too_deep_text(what)}")
