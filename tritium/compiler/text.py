"""Reading a stage's MLIR text."""

from __future__ import annotations

import linecache
from typing import Any

from .. import dialects
from ..dialects import builtin
from ..ir.parser import Parser, parse_module
from ..ir.verifier import VerificationError, verify

__all__ = ["read_module"]

_ = dialects  # imported so that all of its operations are known to the parser


class _PlacedParser(Parser):
    """A parser for which an operation is where its text stands, whatever the text says of where it comes from."""

    def operation(self) -> Any:
        """The next operation."""
        at = self.pos
        op = super().operation()
        op.loc = self.place(at)
        return op


def read_module(text: str, name: str) -> builtin.Module:
    """The verified module of a text; ParseError or VerificationError, which know the place by `name` and line.

    What does not verify is shown in the text: who compiles a file of a stage has edited that, and not the program that
    it once came from.
    """
    module = parse_module(text, name, text_locations=True)
    try:
        verify(module)
    except VerificationError:
        if name not in linecache.cache:  # so that the message can show its lines
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        try:
            verify(parse_module(text, name, text_locations=True, parser_class=_PlacedParser))
        finally:
            linecache.cache.pop(name, None)
        raise
    return module
