"""Names for JSON values, of which answers, messages between processes and records of traces are made."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Json", "Record"]

Json: TypeAlias = Any
"""A JSON value: null, a truth value, a number, a text, a list of JSON values, or a dictionary of them by text."""

Record: TypeAlias = dict[str, Json]
"""A JSON object."""
