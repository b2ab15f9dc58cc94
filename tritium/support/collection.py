"""Python's garbage collector, put off while it would only walk over what stays.

Modules stay as long as the process, and IR, which is full of cycles, as long as a compile; each collection meanwhile
looks at all of it again: 30 to 50 % of a compile's time, and 6 of the 90 ms that a compile's imports take.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collect_young", "imports_stay", "paused"]

_lock = threading.Lock()
_users = 0
_was_on = False


@contextmanager
def paused(stays: bool = False) -> Iterator[None]:
    """No collection meanwhile, in any thread; afterwards as it was.

    `stays` says that what is made is there to stay: it goes to the oldest generation, where a whole collection finds
    it, and not through the younger ones. (So does what others made meanwhile.)
    """
    global _users, _was_on
    with _lock:
        if _users == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _was_on:
                if stays:
                    _keep()
                gc.enable()


def collect_young() -> None:
    """Collect what was left behind since collection was put off, which its end would do otherwise.

    For a moment in which another process is waited for. Nothing where somebody else has switched collection off.
    """
    if _users and _was_on:
        gc.collect(0)


def _keep() -> None:
    """What there is goes to the oldest generation; not where a program has frozen objects, which would thaw."""
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()


@contextmanager
def imports_stay() -> Iterator[None]:
    """What is imported meanwhile, while collection is paused, goes to the oldest generation."""
    known = len(sys.modules)
    yield
    if len(sys.modules) > known:
        _keep()
