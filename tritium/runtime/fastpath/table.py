"""The latest launch plans of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:

    class Native(Protocol):
        """The loaded code that launches from tables."""

        def table(self, owner: LaunchTable, slow: Callable[..., Any]) -> tuple[Any, Callable[[Any], Any]]:
            """The words of an empty table of `owner`, and its function `at`."""

        def drop(self, words: Any) -> None:
            """Free what a table keeps for its next launch."""

    class Plan(Protocol):
        """One kind of launch, as the native code reads it."""

        @property
        def native(self) -> Native:
            """The code that the plan is for."""

        @property
        def address(self) -> int:
            """The address of the structure."""


__all__ = ["LAUNCH_ONLY", "Call", "LaunchTable"]

PLANS = 32  # kinds of launches between which a program may alternate without leaving the fast path

LAUNCH_ONLY = ("stream", "warmup")
"""Keywords of a launch that do not affect the compile."""


class Call(NamedTuple):
    """The form of a call: the number of positional arguments, and the names of the others in order."""

    positional: int
    keywords: tuple[str, ...]


class LaunchTable:
    """The latest plans of a kernel. `at(grid)` returns the callable `kernel[grid]`.

    It launches by the first plan whose guards hold, else it calls `slow(grid, *args, **kwargs)`. Before the first plan
    it is a Python function, so that programs that launch each kernel once do not load the native code.
    """

    def __init__(self, slow: Callable[..., Any]) -> None:
        self._slow = slow
        self._plans: dict[int, Plan] = {}  # every plan that the table may refer to, by address
        self._words: Any = None
        self._native: Native | None = None
        self.at: Callable[[Any], Any] = partial(partial, self._early)

    def _early(self, grid: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A launch by a callable that `at` returned before the first plan."""
        launch = partial(self._slow, grid) if self._words is None else self.at(grid)
        return launch(*args, **kwargs)

    def put(self, plan: Plan) -> None:
        """Try this plan first from now on."""
        if self._words is None:
            self._native = plan.native
            self._words, self.at = plan.native.table(self, self._slow)
        self._plans[plan.address] = plan
        words = self._words
        words[:PLANS] = [plan.address, *[p for p in words[:PLANS] if p and p != plan.address], *[0] * PLANS][:PLANS]

    def clear(self) -> None:
        """Forget all plans."""
        if self._words is not None:
            self._words[:PLANS] = [0] * PLANS  # atomic for other threads
        self._plans.clear()

    def __del__(self) -> None:
        if self._native is not None:
            self._native.drop(self._words)
