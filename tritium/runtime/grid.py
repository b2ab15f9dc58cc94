"""Grids: how many programs a launch runs, in up to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

from ..support.suggestions import did_you_mean
from .errors import GridArgumentError, LaunchError
from .specialize import ParameterRule

__all__ = ["LIMIT", "GridArguments", "extents", "normalize_grid"]

LIMIT = (1 << 31) - 1
"""The largest extent of a dimension: program ids are 32-bit integers."""

PROGRAMS = 1 << 62
"""The most programs of a launch: they are numbered by 64-bit integers."""


class GridArguments(dict[str, Any]):
    """The argument of a grid function: the arguments of the launch of `kernel` by name."""

    def __init__(self, kernel: str, named: dict[str, Any]) -> None:
        super().__init__(named)
        self.kernel = kernel

    def __missing__(self, name: Any) -> Any:
        text = f"{self.kernel}: the grid's function asks for {name!r}, which is no argument of this launch"
        hint = did_you_mean(str(name), self) or f"there are {', '.join(self)}"
        raise GridArgumentError(f"{text}\nhint: {hint}")


def extents(
    grid: object, kernel: str, rules: Sequence[ParameterRule], args: Sequence[object], options: Mapping[str, object]
) -> object:
    """A grid, called with the arguments and options of a launch by name if it is a function."""
    if not callable(grid):
        return grid
    return grid(GridArguments(kernel, {**{rule.name: value for rule, value in zip(rules, args)}, **options}))


def normalize_grid(
    grid: Any, meta: Callable[[], dict[str, Any]] | None, kernel: str = "kernel"
) -> tuple[int, int, int]:
    """Three integers from an integer, a tuple or list of one to three, or a function of the launch's arguments.

    `meta()` makes the dict of all arguments that a function is called with. A grid with a zero extent runs no
    program. LaunchError for everything else.
    """
    if callable(grid) and meta is not None:
        grid = grid(GridArguments(kernel, meta()))
    if hasattr(grid, "__index__"):
        grid = (grid,)
    if not isinstance(grid, (tuple, list)):
        raise LaunchError(f"{kernel}: a grid is an integer, a tuple, or a function that returns one, not {grid!r}")
    if not 1 <= len(grid) <= 3:
        raise LaunchError(f"{kernel}: a grid has one to three dimensions, not {len(grid)}: {grid!r}")
    try:
        sizes = [index(n) for n in grid]
    except TypeError:
        raise LaunchError(
            f"{kernel}: the dimensions of a grid are integers, not {grid!r}\n"
            "hint: cdiv(x, y) divides integers and rounds up"
        ) from None
    if min(sizes) < 0:
        raise LaunchError(
            f"{kernel}: a dimension of the grid {tuple(sizes)} is negative\nhint: a zero dimension runs nothing"
        )
    if max(sizes) > LIMIT:
        raise LaunchError(f"{kernel}: a dimension of the grid {tuple(sizes)} is larger than {LIMIT}")
    x, y, z = sizes + [1] * (3 - len(sizes))
    if x * y * z > PROGRAMS and min(sizes) > 0:
        raise LaunchError(f"{kernel}: the grid {tuple(sizes)} has more than 2^62 programs")
    return x, y, z
