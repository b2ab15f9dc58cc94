"""Shared memory that WGMMAs in flight read: what may overwrite it before they have completed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ....dialects import ttg, ttng
from ....dialects.ttg_memory import MemDescType
from ....ir import (
    ORDERING,
    WRITE,
    BlockArgument,
    CountedLoop,
    Operation,
    Value,
    ViewLike,
    is_pointer_store,
    memory_effects,
)

__all__ = ["OperandMemory", "may_overwrite"]

_SEEN_THROUGH = (ViewLike, ttng.WarpGroupDotWait)


def may_overwrite(op: Operation) -> bool:
    """Whether an operation may write shared memory: plain stores, waits and fences do not."""
    return bool(memory_effects(op) & WRITE) and not op.traits & ORDERING and not is_pointer_store(op)


class OperandMemory:
    """The buffers that operands of the WGMMAs in a loop are read from."""

    def __init__(self, loop: CountedLoop) -> None:
        self.loop = loop

    def persists(self, buffer: Any) -> bool:
        """Whether nothing overwrites a buffer before the next iteration's last WGMMA.

        It is a slot of a buffer with several (`memdesc_index`), or memory that the loop does not write.
        """
        body = self.loop.body
        seen: set[Value] = set()
        while buffer not in seen:
            seen.add(buffer)
            if isinstance(buffer, BlockArgument) and buffer.owner is body:
                buffer = body.last.operands[buffer.index - 1]
                continue
            op = buffer.defining_op
            if op is None or not self.loop.is_ancestor_of(op):
                return _allocation(buffer) not in self.written
            if op.__class__ is ttg.MemDescIndex or not isinstance(op, _SEEN_THROUGH):
                return op.__class__ is ttg.MemDescIndex
            buffer = op.operands[0]
        return True

    @cached_property
    def written(self) -> set[Value]:
        """The buffers that operations of the loop may write."""
        writers = [op for op in self.loop.walk() if not op.regions and may_overwrite(op)]
        writers = [op for op in writers if not isinstance(op, _SEEN_THROUGH)]
        return {_allocation(v) for op in writers for v in op.operands if isinstance(v.type, MemDescType)}


def _allocation(buffer: Any) -> Any:
    """The buffer that one is a part or a view of, followed to the initial values of loops."""
    while True:
        op = buffer.defining_op
        if op is None:
            loop = buffer.owner.parent_op
            if not isinstance(loop, CountedLoop) or buffer.index == 0:
                return buffer
            buffer = loop.init_args[buffer.index - 1]
        elif isinstance(op, _SEEN_THROUGH):
            buffer = op.operands[buffer.index if op.__class__ is ttng.WarpGroupDotWait else 0]
        else:
            return buffer
