"""The builder of the frontend: names results after the Python variable that is being assigned."""

from __future__ import annotations

from typing import Any

from ...ir import Block, Builder, Operation
from ...support import UNKNOWN, Location

__all__ = ["NamingBuilder"]


class NamingBuilder(Builder):
    """A builder that gives the results of new operations the hint `name` (None for no hint)."""

    __slots__ = ("name",)

    def __init__(self, block: Block | None = None, before: Operation | None = None, loc: Location = UNKNOWN) -> None:
        super().__init__(block, before, loc)
        self.name: str | None = None

    def insert(self, op: Any) -> Any:
        """Link `op` at the insertion point with the current location and name; the op is returned."""
        if op.loc is UNKNOWN:
            op.loc = self.loc
        block = self.block
        assert block is not None, "the builder has no insertion point"
        if self.before is None:
            block.append(op)
        else:
            block.insert_before(op, self.before)
        name = self.name
        if name is not None:
            for r in op.results:
                r.hint = name
        return op
