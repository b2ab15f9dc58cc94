"""Scratch memory that kernels of some targets ask for: `set_allocator`. Without one, a launch brings its own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .errors import LaunchError

__all__ = ["NullAllocator", "current_allocator", "set_allocator"]

Allocator = Callable[[int, int, "int | None"], Any]


class NullAllocator:
    """An allocator for those who want to hear of every kernel that asks: each call is an error."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Any:
        raise LaunchError(
            "the kernel needs scratch memory, and NullAllocator has none\nhint: call tritium.set_allocator(function)"
        )


_allocator: ContextVar[Allocator | None] = ContextVar("tritium allocator", default=None)


def set_allocator(allocator: Allocator | None) -> None:
    """`allocator(size, alignment, stream)` gives memory (with `data_ptr()`) to kernels that ask for it from now on.

    None: launches bring their own again.
    """
    _allocator.set(allocator)


def current_allocator() -> Allocator | None:
    """What was set last in this context; None where nothing was."""
    return _allocator.get()
