"""The builder of the frontend: names results after the Python variable that is being assigned."""

from __future__ import annotations

import sys
from typing import Any

from ...ir import Block, Builder, Operation
from ...support import UNKNOWN, Location
from ...support.settings import compilation
from ..errors import LanguageError

__all__ = ["NamingBuilder"]


class NamingBuilder(Builder):
    """A builder that gives the results of new operations the hint `name` (None for no hint).

    `room` is how many more there may be: a loop that is written out while compiling may ask for any number.
    """

    __slots__ = ("name", "room")

    def __init__(self, block: Block | None = None, before: Operation | None = None, loc: Location = UNKNOWN) -> None:
        super().__init__(block, before, loc)
        self.name: str | None = None
        self.room = compilation.max_operations or sys.maxsize

    def insert(self, op: Any) -> Any:
        """Link `op` at the insertion point with the current location and name; the op is returned."""
        self.room -= 1
        if self.room < 0:
            raise _too_many(op)
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


def _too_many(op: Operation) -> LanguageError:
    return LanguageError(
        f"with this {op.name} the kernel has more than {compilation.max_operations:,} operations",
        "loops of tl.static_range are written out, those of tl.range are not; the setting compilation.max_operations "
        "(TRITIUM_MAX_OPERATIONS) says how many there may be",
    )
