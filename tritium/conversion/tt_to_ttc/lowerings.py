"""The table of operations that are lowered at their place in the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir import Operation

__all__ = ["LOWERINGS", "lowers"]

Lowering = Callable[[Any, Any], None]
LOWERINGS: dict[type[Operation], Lowering] = {}
"""By op class: a function of the `TileLowering` and the op."""


def lowers(*classes: type[Operation]) -> Callable[[Lowering], Lowering]:
    """Register the lowering of op classes."""

    def register(fn: Lowering) -> Lowering:
        for cls in classes:
            LOWERINGS[cls] = fn
        return fn

    return register
