"""The table of what operations mean, which the files beside this one fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["OPERATIONS", "meaning"]

OPERATIONS: dict[str, Callable[..., Any]] = {}
"""Operation name -> function(evaluator, op, *operand values) -> the result, a tuple of results, or None.

Operations with regions get the values known so far (a dict) before their operands.
"""


def meaning(*names: str) -> Callable[[Any], Any]:
    """The decorated function is what the operations mean."""

    def enter(fn: Any) -> Any:
        for name in names:
            OPERATIONS[name] = fn
        return fn

    return enter
