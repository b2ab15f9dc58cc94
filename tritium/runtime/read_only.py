"""The read-only memory of a launch, against which stores are checked if the analysis of the kernel is not conclusive.

Writable arrays are excluded: two arguments may alias the same memory, one of them read-only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .arrays import EVERYTHING, ArrayInfo, extent, is_read_only

__all__ = ["NO_MORE", "Span", "memory_to_read"]

Span = tuple[int, int]
"""The first byte and one past the last."""

NO_MORE: Span = (0, 0)
"""The terminator of a table of spans."""


def memory_to_read(arrays: Sequence[ArrayInfo], spans: Sequence[Span]) -> list[tuple[Span, int]]:
    """The read-only spans of the memory of `arrays`, each with the index of its array.

    >>> memory_to_read([], [])
    []
    """
    writable = [s for a, s in zip(arrays, spans) if s != EVERYTHING and not is_read_only(a.owner)]
    found: list[tuple[Span, int]] = []
    for number, (array, span) in enumerate(zip(arrays, spans)):
        if is_read_only(array.owner):
            found += [(part, number) for part in _without(_whole(array.owner, span), writable)]
    return found


def _whole(owner: Any, span: Span) -> Span:
    """Extended by the memory that an array is a view of, as far as it is read-only too: kernels may access it."""
    base: Any = getattr(owner, "base", None)
    while hasattr(base, "flags") and is_read_only(base):
        low, high = extent(base)
        span = min(span[0], low), max(span[1], high)
        base = base.base
    return span


def _without(span: Span, others: Sequence[Span]) -> list[Span]:
    parts = [span]
    for low, high in others:
        parts = [
            part
            for first, last in parts
            for part in ((first, min(last, low)), (max(first, high), last))
            if part[0] < part[1]
        ]
    return parts
