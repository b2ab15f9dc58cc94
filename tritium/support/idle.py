"""Work for the time in which a compile waits for another program or library.

Such work is registered here, and run before a wait. It is called with `long`: whether the wait is for a process that
leaves this one's core idle; it returns whether it is done. It must return quickly: longer work starts a thread.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["run_pending", "when_idle"]

_pending: list[Callable[[bool], bool]] = []


def when_idle(work: Callable[[bool], bool]) -> None:
    """Call `work(long)` when a compile of this process waits, until it is true."""
    _pending.append(work)


def run_pending(long: bool) -> None:
    """Run the registered work in order, and remove what is done.

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
