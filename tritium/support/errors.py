"""The roots of the exception tree."""

from __future__ import annotations

__all__ = ["InternalError", "TritiumError"]


class TritiumError(Exception):
    """Base of every error that a user of Tritium can cause; its text is meant for them."""


class InternalError(TritiumError):
    """An invariant of the compiler itself is broken: a bug of ours, never the user's fault."""
