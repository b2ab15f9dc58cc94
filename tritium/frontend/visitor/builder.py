"""The builder of the frontend: names results after the Python variable that they are assigned to."""

from __future__ import annotations

import functools
import sys
from typing import Any

from ...ir import Block, Builder, Operation
from ...support import UNKNOWN, Location
from ...support.lazy import LazyModule
from ...support.settings import compilation
from ..errors import LanguageError

_bindings = LazyModule(".builder_bindings", __package__)

__all__ = ["NamingBuilder"]


class NamingBuilder(Builder):
    """A builder that gives the results of new operations the hint `name` (None for no hint).

    `remaining` limits the operations that it may still insert, since an unrolled loop can insert any number. `options`
    are those of the compile, for functions of the language that depend on them.
    """

    __slots__ = ("name", "options", "remaining")

    def __init__(self, block: Block | None = None, before: Operation | None = None, loc: Location = UNKNOWN) -> None:
        super().__init__(block, before, loc)
        self.name: str | None = None
        self.options: Any = None
        self.remaining = compilation.max_operations or sys.maxsize

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("_") else _bindings.method(self, name)
        if found is not None:
            return found
        if name.startswith(("create_", "get_")):
            return functools.partial(_refuse, name)
        raise AttributeError(f"the builder has no attribute {name!r}")

    def insert(self, op: Any) -> Any:
        """Link `op` at the insertion point with the current location and name; the op is returned."""
        self.remaining -= 1
        if self.remaining < 0:
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


def _refuse(name: str, *args: Any, **kwargs: Any) -> Any:
    raise LanguageError(
        f"NotImplementedError: _semantic.builder.{name} is not supported",
        "call functions of tl with _semantic=_semantic, or insert operations of tritium.dialects with "
        "_semantic.builder.add(op)",
    )


def _too_many(op: Operation) -> LanguageError:
    return LanguageError(
        f"with this {op.name} the kernel has more than {compilation.max_operations:,} operations",
        "loops of tl.static_range are written out, those of tl.range are not; the setting compilation.max_operations "
        "(TRITIUM_MAX_OPERATIONS) says how many there may be",
    )
