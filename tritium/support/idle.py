"""Work for the time in which a compile waits for another program or library.

Who has such work registers it; who is about to wait runs it. Each piece runs once and must return quickly: what takes
longer starts a thread.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["run_pending", "when_idle"]

_pending: list[Callable[[], None]] = []


def when_idle(work: Callable[[], None]) -> None:
    """Run `work` when a compile of this process waits next."""
    _pending.append(work)


def run_pending() -> None:
    """Run what is registered, in its order, and forget it.

    >>> when_idle(lambda: print("loaded"))
    >>> run_pending()
    loaded
    >>> run_pending()
    """
    while _pending:
        _pending.pop(0)()
