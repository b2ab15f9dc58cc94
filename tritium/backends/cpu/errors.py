"""The exception of this room."""

from __future__ import annotations

from ..errors import BackendError

__all__ = ["BackendError"]
