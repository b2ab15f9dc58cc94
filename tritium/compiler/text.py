"""Reading a stage's MLIR text."""

from __future__ import annotations

import linecache
from typing import Any

from .. import dialects
from ..dialects import builtin
from ..ir.parser import Parser, parse_module
from ..ir.verifier import VerificationError, verify

__all__ = ["read_module"]

_ = dialects  # imported to register all of its operations with the parser


class _PlacedParser(Parser):
    """A parser that locates operations in the text itself, and ignores the locations in it."""

    def operation(self) -> Any:
        """The next operation."""
        at = self.pos
        op = super().operation()
        op.loc = self.place(at)
        return op


def read_module(text: str, name: str) -> builtin.Module:
    """The verified module of a text; ParseError or VerificationError, with `name` and line.

    Verification errors are shown in the text itself, since the user edited that and not the original program.
    """
    module = parse_module(text, name, text_locations=True)
    try:
        verify(module)
    except VerificationError:
        if name not in linecache.cache:  # for the message to show its lines
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        try:
            verify(parse_module(text, name, text_locations=True, parser_class=_PlacedParser))
        finally:
            linecache.cache.pop(name, None)
        raise
    return module
