"""How long the text of a type, attribute or location is, and how deep it goes, without making it.

Aliases make it easy to write a short text that stands for an endless one: each of thirty lines takes the line before
twice. What is read stays small, since equal parts are one; what is printed would not.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Measure"]

LONGEST = 1 << 16
DEEPEST = 100


class Measure(dict[Any, str]):
    """Lengths and depths of values, each taken once; stands for the texts that `spell` is given."""

    __slots__ = ("_depth", "_length", "_sizes")

    def __init__(self) -> None:
        self._sizes: dict[Any, tuple[int, int]] = {}
        self._length = self._depth = 0

    def __missing__(self, part: Any) -> str:
        length, depth = self._sizes.get(part) or self._measured(part)
        self._length += length
        self._depth = max(self._depth, depth)
        return ""

    def _measured(self, value: Any) -> tuple[int, int]:
        outer = self._length, self._depth
        self._length = self._depth = 0
        own = len(value.spell(self))
        size = self._sizes[value] = (own + self._length, 1 + self._depth)
        self._length, self._depth = outer
        return size

    def length(self, value: Any) -> int:
        """The number of characters of the whole text."""
        return (self._sizes.get(value) or self._measured(value))[0]

    def allows(self, value: Any) -> bool:
        """Whether an alias may stand for this."""
        length, depth = self._sizes.get(value) or self._measured(value)
        return length <= LONGEST and depth <= DEEPEST
