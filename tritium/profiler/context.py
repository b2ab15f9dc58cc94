"""The path of what a session records now."""

from __future__ import annotations

from .flags import flags
from .session import sessions

__all__ = ["depth"]


def depth(session: int | None = 0) -> int | None:
    """How many scopes (or lines of Python, with context="python") are open in this thread; None without profiling."""
    return sessions.depth(session or 0) if flags.profiling_on else None
