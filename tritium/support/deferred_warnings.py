"""Warnings about a kernel's code, which can be deferred: the autotuner replays those of the chosen configuration only.

    with deferred() as caught:
        compile(...)
    replay(caught)

>>> with deferred() as caught:
...     warn("registers spill", UserWarning)
>>> caught
[(<class 'UserWarning'>, 'registers spill')]
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Caught", "deferred", "replay", "warn"]

Caught = tuple[type[Warning], str]
"""Category and text of a warning."""

_caught: ContextVar[list[Caught] | None] = ContextVar("tritium warnings", default=None)


def warn(text: str, category: type[Warning]) -> None:
    """Issue a warning, or append it to the list of the enclosing `deferred` of this thread."""
    caught = _caught.get()
    if caught is not None:
        caught.append((category, text))
    else:
        warnings.warn(text, category, stacklevel=3)


@contextmanager
def deferred() -> Iterator[list[Caught]]:
    """Catch the warnings that this thread issues inside."""
    caught: list[Caught] = []
    token = _caught.set(caught)
    try:
        yield caught
    finally:
        _caught.reset(token)


def replay(caught: Iterable[Caught]) -> None:
    """Issue warnings that were caught."""
    for category, text in caught:
        warn(text, category)
