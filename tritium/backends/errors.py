"""The exception of this room."""

from __future__ import annotations

__all__ = ["BackendError"]


class BackendError(RuntimeError):
    """LLVM, an assembler, the loader or the thread pool refused something; the message says what and where."""
