"""The data of a session, by phase: read it, advance to the next phase, clear it.

A session begins in phase 0. Read a phase after `deactivate(session, flushing=True)`, or once it is complete.
"""

from __future__ import annotations

from typing import Any

from . import msgpack
from .session import sessions
from .session_id import checked

__all__ = ["advance_phase", "clear", "get", "get_msgpack", "is_phase_complete"]


def get(session: int | None = 0, phase: int = 0) -> Any:
    """The data of a phase as hatchet reads it: [tree, devices]. Waits for the kernels of the session."""
    return None if session is None else sessions.literal(checked(session, "retrieved"), phase)


def get_msgpack(session: int | None = 0, phase: int = 0) -> bytes | None:
    """The same in MessagePack."""
    return None if session is None else msgpack.packed(get(session, phase))


def advance_phase(session: int | None = 0) -> int | None:
    """Begin the next phase; its number. With mode="periodic_flushing", the last one is written and cleared."""
    return None if session is None else sessions.advance_phase(checked(session, "advanced"))


def is_phase_complete(session: int | None = 0, phase: int = 0) -> bool:
    """Whether a phase has ended and its kernels have been waited for, so that it can be read and cleared."""
    return False if session is None else sessions.is_complete(checked(session, "checked"), phase)


def clear(session: int | None = 0, phase: int = 0, clear_up_to_phase: bool = False) -> None:
    """Forget the data of a phase, or of all phases up to it."""
    if session is not None:
        sessions.clear(checked(session, "cleared"), phase, clear_up_to_phase)
