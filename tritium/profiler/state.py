"""States: a frame below the open scopes for what runs meanwhile, such as the computation of metadata."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from .flags import flags
from .sources import METADATA_PREFIX, METADATA_SCOPE
from .thread_state import thread_state

__all__ = [
    "COMPUTE_METADATA_SCOPE_NAME",
    "COMPUTE_METADATA_SCOPE_PREFIX",
    "enter_state",
    "exit_state",
    "get_metadata_state_name",
    "metadata_state",
    "state",
]

COMPUTE_METADATA_SCOPE_NAME = METADATA_SCOPE
COMPUTE_METADATA_SCOPE_PREFIX = METADATA_PREFIX


class state(AbstractContextManager["state"]):
    """`with state("name"):`, or a decorator. Scopes and kernels inside get the frame `name`.

    States of one thread nest; the innermost one is recorded.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> state:
        if flags.profiling_on:
            enter_state(self.name)
        return self

    def __exit__(self, *error: Any) -> None:
        if flags.profiling_on:
            exit_state()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` with the state."""

        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


class metadata_state(state):
    """The state for computing metrics: viewers leave its frames out. With a kernel's name, below a frame of its own."""

    def __init__(self, kernel_name: str | None = None) -> None:
        super().__init__(get_metadata_state_name(kernel_name))


def enter_state(name: str) -> None:
    """Begin a state in this thread."""
    thread_state.states.append(name)


def exit_state() -> None:
    """End the state that began last in this thread."""
    if thread_state.states:
        thread_state.states.pop()


def get_metadata_state_name(kernel_name: str | None = None) -> str:
    """The name of the state in which the metadata of a kernel is computed.

    >>> get_metadata_state_name("matmul")
    '__proton_launch_metadata:matmul'
    """
    return f"{METADATA_PREFIX}{kernel_name}" if kernel_name else METADATA_SCOPE
