"""Reading a stage's MLIR text."""

from __future__ import annotations

from .. import dialects
from ..dialects import builtin
from ..ir.parser import parse_module
from ..ir.verifier import verify

__all__ = ["read_module"]

_ = dialects  # imported so that all of its operations are known to the parser


def read_module(text: str, name: str) -> builtin.Module:
    """The verified module of a text; ParseError or VerificationError, which know the place by `name` and line."""
    module = parse_module(text, name, text_locations=True)
    verify(module)
    return module
