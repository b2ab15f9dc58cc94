"""Pausing Python's garbage collector while it would only traverse live objects.

Modules live as long as the process, and IR, which is full of cycles, as long as a compile; each collection would
traverse all of it again: 30 to 50 % of a compile's time, and 6 of the 90 ms of a compile's imports.
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
    """Pause collection inside, in all threads.

    `stays`: the new objects are long-lived and move to the oldest generation, where only a full collection traverses
    them. (So do objects that other threads made.)
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
    """Collect the garbage since the pause began, as its end would do.

    Called while waiting for another process. It does nothing if the program has disabled collection.
    """
    if _users and _was_on:
        gc.collect(0)


def _keep() -> None:
    """Move all objects to the oldest generation, unless the program has frozen objects, which this would unfreeze."""
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()


@contextmanager
def imports_stay() -> Iterator[None]:
    """Move objects of imports inside to the oldest generation, while collection is paused."""
    known = len(sys.modules)
    yield
    if len(sys.modules) > known:
        _keep()
