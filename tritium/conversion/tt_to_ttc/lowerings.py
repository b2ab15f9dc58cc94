"""What is lowered at its place in the program: op class -> a function of the `TileLowering` and the operation."""

from __future__ import annotations

from ..lowerings import Lowerings

__all__ = ["LOWERINGS", "lowers"]

LOWERINGS = Lowerings()
lowers = LOWERINGS.lowers
