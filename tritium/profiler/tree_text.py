"""A tree of frames as text, in color where it is shown on a terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Row", "tree_text"]

_MARKS = ("", " ◀ ", " ▶ ")  # of a difference: frames of both profiles, of the left one, of the right one
_HOT = ((0.9, "31"), (0.5, "33"), (0.1, "32"))  # red, yellow, green: from this part of the largest value on


class Row(NamedTuple):
    """The display of a frame: its name, its values, and which of two profiles has it."""

    name: str
    values: Sequence[float]
    missing: int


def tree_text(roots: Sequence[Any], rows: Mapping[Any, Row], depth: int, precision: int) -> str:
    """A line for each frame that has less than `depth` frames above."""
    first = [r.values[0] for r in rows.values() if r.values and math.isfinite(r.values[0])]
    largest = max(first, default=0.0)
    colored = sys.stdout.isatty()
    lines: list[str] = []

    def value(number: float, is_first: bool) -> str:
        text = f"{number:.{precision}f}"
        if not (colored and is_first and largest > 0 and math.isfinite(number)):
            return text
        code = next((c for part, c in _HOT if number >= part * largest), "2")
        return f"\x1b[{code}m{text}\x1b[0m"

    def show(node: Any, indent: str, below: str) -> None:
        if node.depth >= depth:
            return
        row = rows[node]
        values = " ".join(value(v, i == 0) for i, v in enumerate(row.values))
        lines.append(f"{indent}{values} {row.name}{_MARKS[row.missing]}\n")
        for child in node.children:
            last = child is node.children[-1]
            show(child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))

    for root in roots:
        show(root, "", "")
    return "".join(lines)
