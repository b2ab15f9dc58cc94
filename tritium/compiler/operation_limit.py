"""The limit on the number of operations of a kernel in a stage (`compilation.max_operations`).

A kernel that unrolls a loop of thousands of iterations, or whose passes copy too much, would compile for hours, or
until memory is exhausted. The frontend counts operations while it emits them, the lowering to LLVM instructions, and
the operations after passes are counted here, at the end of a stage.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..support import TooManyOperations
from ..support.settings import compilation

__all__ = ["check_size"]


def check_size(stage: str, value: Any) -> None:
    """TooManyOperations for a module with more than `compilation.max_operations`; it names the location with the
    most."""
    most = compilation.max_operations
    if not most or not hasattr(value, "regions"):
        return
    count = 0
    for _ in value.walk():
        count += 1
    if count > most:
        raise _too_many(stage, value, count, most)


def _too_many(stage: str, module: Any, count: int, most: int) -> TooManyOperations:
    def place(op: Any) -> Any:
        at = op.loc.file_position()
        return op.name, at and (at.file, at.line)

    places = Counter(place(op) for op in module.walk())
    worst, own = places.most_common(1)[0]
    found = next(op for op in module.walk() if place(op) == worst)
    return TooManyOperations(
        found, f"stands {own:,} times for this line; {stage} has {count:,} operations in all, more than {most:,}"
    )
