"""Tables of lowerings: which function writes an operation in the terms of the next level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..ir import Operation

__all__ = ["Lowerings"]

Lowering = TypeVar("Lowering", bound=Callable[[Any, Any], None])


class Lowerings(dict[type[Operation], Callable[[Any, Any], None]]):
    """By op class: a function of what the conversion carries along, and the operation."""

    def lowers(self, *classes: type[Operation]) -> Callable[[Lowering], Lowering]:
        """Register the function below as the lowering of op classes."""

        def register(fn: Lowering) -> Lowering:
            self.update(dict.fromkeys(classes, fn))
            return fn

        return register
