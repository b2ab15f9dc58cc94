"""Scratch memory of kernels: `set_allocator`. Without an allocator, a launch allocates it itself."""

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
    """An allocator that raises an error for every kernel that needs scratch memory."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Any:
        raise LaunchError(
            "the kernel needs scratch memory, and NullAllocator has none\nhint: call tritium.set_allocator(function)"
        )


_allocator: ContextVar[Allocator | None] = ContextVar("tritium allocator", default=None)


def set_allocator(allocator: Allocator | None) -> None:
    """Set `allocator(size, alignment, stream)`, which returns scratch memory (with `data_ptr()`) for kernels.

    None: launches allocate it themselves again.
    """
    _allocator.set(allocator)


_profile_allocator: Allocator | None = None


def set_profile_allocator(allocator: Allocator | None) -> None:
    """Set `allocator(size, alignment, stream)` for kernels that write profiler records, or None to unset it.

    It applies to all threads, unlike `set_allocator`."""
    global _profile_allocator
    _profile_allocator = None if isinstance(allocator, NullAllocator) else allocator


def has_profile_allocator() -> bool:
    """Whether an allocator is set."""
    return _profile_allocator is not None


def current_allocator() -> Allocator | None:
    """The allocator of this context; None if none is set."""
    return _allocator.get()
