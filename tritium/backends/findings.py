"""Performance findings, in one form for all targets."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..ir import Operation
from .listing import place, source_line

__all__ = ["Finding", "finding_at", "finding_of"]


class Finding(NamedTuple):
    """Something that costs time: its kind ("spills", "uncoalesced-access", …), where (`kernel.py:12`, empty where that
    is not known) with the line of the source, what it is, and what can be done about it."""

    kind: str
    place: str
    source: str
    message: str
    hint: str


def finding_at(kind: str, file: str, line: int, message: str, hint: str) -> Finding:
    """A finding about a line of a file; line 0: not known."""
    return Finding(kind, place(file, line) if line else "", source_line(file, line) if line else "", message, hint)


def finding_of(kind: str, op: Operation | Any, message: str, hint: str) -> Finding:
    """A finding about an operation."""
    at = op.loc.user_position() if op is not None else None
    if at is None:
        return Finding(kind, "", "", message, hint)
    return Finding(kind, at.text(folder=False), source_line(at.file, at.line), message, hint)
