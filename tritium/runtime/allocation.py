"""Scratch memory that kernels of some targets ask for: `set_allocator`. Kernels on the CPU bring their own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .errors import LaunchError

__all__ = ["NullAllocator", "current_allocator", "set_allocator"]

Allocator = Callable[[int, int, "int | None"], Any]


class NullAllocator:
    """What is set at first, and can be set again: every call of it is an error."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Any:
        raise LaunchError(
            "the kernel needs scratch memory, but there is no allocator\nhint: call tritium.set_allocator(function)"
        )


_null = NullAllocator()
_allocator: ContextVar[Allocator] = ContextVar("tritium allocator", default=_null)


def set_allocator(allocator: Allocator) -> None:
    """`allocator(size, alignment, stream)` gives memory (with `data_ptr()`) to kernels that ask for it from now on."""
    _allocator.set(allocator)


def current_allocator() -> Allocator:
    """What was set last in this context; it raises LaunchError when it is called, if nothing was."""
    return _allocator.get()
