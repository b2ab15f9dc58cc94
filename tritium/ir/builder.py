"""The builder: inserts operations at a point, with a current location."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ..support import UNKNOWN, Location
from .operation import Block, Operation

__all__ = ["Builder"]

OpT = TypeVar("OpT", bound=Operation)


class Builder:
    """Inserts ops at the end of `block`, or before `before`; `loc` is given to ops that have none.

    >>> from tritium.dialects import arith
    >>> from tritium.ir import Block, i32
    >>> block = Block([i32])
    >>> b = Builder(block)
    >>> b.add(arith.AddI(block.args[0], block.args[0])).type
    i32
    """

    __slots__ = ("before", "block", "loc")

    def __init__(self, block: Block | None = None, before: Operation | None = None, loc: Location = UNKNOWN) -> None:
        self.block = block
        self.before = before
        self.loc = loc

    def insert(self, op: OpT) -> OpT:
        """Link `op` at the insertion point; the op is returned."""
        if op.loc is UNKNOWN:
            op.loc = self.loc
        assert self.block is not None, "the builder has no insertion point"
        if self.before is None:
            self.block.append(op)
        else:
            self.block.insert_before(op, self.before)
        return op

    def add(self, op: Operation) -> Any:
        """Insert `op`; its only result is returned (a list for several, None for none)."""
        self.insert(op)
        results = op.results
        return results[0] if len(results) == 1 else (results or None)

    def at_end(self, block: Block) -> None:
        """Insert at the end of `block` from now on."""
        self.block, self.before = block, None

    def at_start(self, block: Block) -> None:
        """Insert at the front of `block` from now on."""
        self.block, self.before = block, block.first

    def at(self, op: Operation) -> None:
        """Insert just before `op` from now on."""
        self.block, self.before = op.parent, op

    def after(self, op: Operation) -> None:
        """Insert just after `op` from now on."""
        self.block, self.before = op.parent, op.next

    @contextmanager
    def saved(self) -> Iterator[Builder]:
        """Come back to the current insertion point and location on leaving."""
        state = self.block, self.before, self.loc
        try:
            yield self
        finally:
            self.block, self.before, self.loc = state
