"""The target that Python code asks about: that of the compile which calls it, else the one that launches compile for.

Functions that kernels call at compile time, and scripts that choose what to launch, both ask `tl.target_info`. The
frontend says which compile is under way; who knows the machine is far above it, and is entered in `active` from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["active", "asked", "compiling_with"]

_options: ContextVar[Any] = ContextVar("options of the compile that runs Python code", default=None)
#: one function at most: the target of the machine, with `.backend`, `.arch` and `.warp_size`
active: list[Callable[[], Any]] = []


@contextmanager
def compiling_with(options: Any) -> Iterator[None]:
    """What is called inside asks about the target of a compile with these options."""
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)


def asked(of_options: Callable[[Any], Any]) -> Any:
    """The target of the compile under way, by `of_options`; without one that of the machine, None if nobody knows it.

    >>> with compiling_with("options of a compile"):
    ...     asked(lambda options: f"target of the {options}")
    'target of the options of a compile'
    """
    options = _options.get()
    if options is not None:
        return of_options(options)
    return active[0]() if active else None
