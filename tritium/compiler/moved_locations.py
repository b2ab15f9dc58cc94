"""Locations in the text of cached stages, which follow the functions of a kernel that was moved.

The key of code without line information leaves out where its functions are, so that a kernel is not compiled again
when it moves in its file or the file moves. The text of a stage has the locations of the compile that stored it, and
the description of the key has the positions of the functions at that time ("seen at"; `key.describe_key`). On a cache
hit, the locations inside each function are shifted by as much as the function has moved since, when the text is first
read: a launch does not read it.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from ..support.patterns import pattern
from ..support.text import quote
from .entry import Entry

__all__ = ["Move", "PositionedSource", "current_text", "moves", "relocated"]

_POSITION = pattern(r"(.*?)(?::(\d+):(\d+))?", re.S)
_LOCATION = pattern(r'("(?:[^"\\\n]|\\.)*"):(\d+):(\d+)(?: to (\d*):(\d+))?')


class PositionedSource(Protocol):
    """A source that knows where its functions are: `places` ("file:line:column") and their numbers of lines."""

    @property
    def places(self) -> list[str]:
        """The positions of the functions."""

    @property
    def line_counts(self) -> list[int]:
        """Their numbers of lines."""


class Move(NamedTuple):
    """A function of `line_count` lines from `line` of `file` on, which is now in `new_file`, `down` and `right`.

    `file` and `new_file` are string literals, as in the text.
    """

    file: str
    line: int
    line_count: int
    new_file: str
    down: int
    right: int

    def contains(self, file: str, line: int) -> bool:
        """Whether a location is inside the function at its former position."""
        return file == self.file and self.line <= line < self.line + self.line_count


def current_text(text: str, entry: Entry, src: PositionedSource) -> str:
    """The text of a stage in the entry of `src` with locations where its functions are now."""
    found = moves(entry, src)
    return relocated(text, found) if found else text


def moves(entry: Entry, src: PositionedSource) -> list[Move]:
    """The functions of `src` that are not where they were when the entry was made."""
    try:
        before = list(entry.description()["seen at"].values())
    except (KeyError, ValueError):
        return []
    after, counts = src.places, src.line_counts
    if before == after or not len(before) == len(after) == len(counts):
        return []
    return [_move(old, new, count) for old, new, count in zip(before, after, counts)]


def _move(old: str, new: str, line_count: int) -> Move:
    (file, line, column), (new_file, new_line, new_column) = _parsed(old), _parsed(new)
    return Move(quote(file), line, line_count, quote(new_file), new_line - line, new_column - column)


def _parsed(position: str) -> tuple[str, int, int]:
    """The parts of "file:line:column"; a file alone begins at 1:1."""
    found = _POSITION.fullmatch(position)
    assert found is not None
    return found[1], int(found[2] or 1), int(found[3] or 1)


def relocated(text: str, found: list[Move]) -> str:
    """A text with the locations inside functions that moved shifted by as much.

    >>> move = Move('"a.py"', 5, 3, '"b.py"', 10, 4)
    >>> relocated('#loc = loc("a.py":6:3)  #loc1 = loc("a.py":9:3)', [move])
    '#loc = loc("b.py":16:7)  #loc1 = loc("a.py":9:3)'
    """

    def shifted(at: re.Match[str]) -> str:
        file, line, column = at[1], int(at[2]), int(at[3])
        move = next((m for m in found if m.contains(file, line)), None)
        if move is None:
            return at[0]
        end = ""
        if at[5]:
            end_line = int(at[4]) + move.down if at[4] else ""
            end = f" to {end_line}:{max(1, int(at[5]) + move.right)}"
        return f"{move.new_file}:{line + move.down}:{max(1, column + move.right)}{end}"

    return _LOCATION.sub(shifted, text)
