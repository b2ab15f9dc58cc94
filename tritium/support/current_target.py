"""The current target: that of the running compile, else the active driver's.

Functions that kernels call at compile time, and scripts that choose what to launch, both use `tl.target_info`. The
frontend sets the options of the running compile; the runtime, a higher layer, registers the active driver in `active`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["active", "compiling_with", "current"]

_options: ContextVar[Any] = ContextVar("options of the running compile", default=None)
#: at most one function: the active driver's target, with `.backend`, `.arch` and `.warp_size`
active: list[Callable[[], Any]] = []


@contextmanager
def compiling_with(options: object) -> Iterator[None]:
    """Code inside runs as part of a compile with these options."""
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)


def current(of_options: Callable[[Any], Any]) -> Any:
    """`of_options(options)` of the running compile; without one the active driver's target, None without a driver.

    >>> with compiling_with("options of a compile"):
    ...     current(lambda options: f"target of the {options}")
    'target of the options of a compile'
    """
    options = _options.get()
    if options is not None:
        return of_options(options)
    return active[0]() if active else None
