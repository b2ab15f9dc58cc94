"""Scratch memory that kernels of some targets ask for: `set_allocator`. Without one, a launch brings its own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

from .errors import LaunchError

__all__ = [
    "Allocator",
    "Buffer",
    "NullAllocator",
    "current_allocator",
    "has_profile_allocator",
    "set_allocator",
    "set_profile_allocator",
]

Allocator = Callable[[int, int, "int | None"], Any]


class Buffer(Protocol):
    """What an allocator returns: memory with an address."""

    def data_ptr(self) -> int:
        """The address of the first byte."""


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


_profile_allocator: Allocator | None = None


def set_profile_allocator(allocator: Allocator | None) -> None:
    """`allocator(size, alignment, stream)` gives memory to kernels that write records for a profiler; None: nothing
    does. In all threads, unlike `set_allocator`."""
    global _profile_allocator
    _profile_allocator = None if isinstance(allocator, NullAllocator) else allocator


def has_profile_allocator() -> bool:
    """Has one been set?"""
    return _profile_allocator is not None


def current_allocator() -> Allocator | None:
    """What was set last in this context; None where nothing was."""
    return _allocator.get()
