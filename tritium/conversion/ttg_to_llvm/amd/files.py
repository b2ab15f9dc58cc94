"""The module that lowers each operation whose lowering for AMD GPUs is their own."""

from __future__ import annotations

__all__ = ["FILES"]

FILES: dict[str, str] = {}
"""Module of this package -> the operations (names separated by spaces) that it registers lowerings of."""
