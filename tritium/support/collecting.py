"""Warnings about a kernel's code, which whoever compiles many kernels to take one may keep from being given.

    with collected() as heard:
        compile(...)
    give(heard)

>>> with collected() as heard:
...     tell("registers spill", UserWarning)
>>> heard
[(<class 'UserWarning'>, 'registers spill')]
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Told", "collected", "give", "tell"]

Told = tuple[type[Warning], str]

_collector: ContextVar[list[Told] | None] = ContextVar("tritium warnings", default=None)


def tell(text: str, category: type[Warning]) -> None:
    """Warn, or leave the warning to who collects them in this thread."""
    collector = _collector.get()
    if collector is not None:
        collector.append((category, text))
    else:
        warnings.warn(text, category, stacklevel=3)


@contextmanager
def collected() -> Iterator[list[Told]]:
    """The warnings that are told inside, by this thread."""
    heard: list[Told] = []
    token = _collector.set(heard)
    try:
        yield heard
    finally:
        _collector.reset(token)


def give(heard: Iterable[Told]) -> None:
    """Warn of what was collected."""
    for category, text in heard:
        tell(text, category)
