"""Work for the time in which a compile waits for another program or library.

Who has such work registers it; who is about to wait runs it. A piece is told whether the wait is `long`, for a process
that does not need this one's processor, and says whether it is done. It must return quickly: what takes longer starts a
thread.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["run_pending", "when_idle"]

_pending: list[Callable[[bool], bool]] = []


def when_idle(work: Callable[[bool], bool]) -> None:
    """Call `work(long)` when a compile of this process waits, until it is true."""
    _pending.append(work)


def run_pending(long: bool) -> None:
    """Run what is registered, in its order, and forget what is done.

    >>> when_idle(lambda long: print("compile" if long else "not now") or long)
    >>> run_pending(long=False)
    not now
    >>> run_pending(long=True)
    compile
    >>> run_pending(long=True)
    """
    for work in [*_pending]:
        if work(long) and work in _pending:
            _pending.remove(work)
