"""The exception of the CPU backend."""

from __future__ import annotations

from ..errors import BackendError

__all__ = ["BackendError"]
