"""Work that is postponed while a program is busy: done in a thread after a delay, or at the end of the process."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable

__all__ = ["Postponed"]


class Postponed:
    """Do `work` once, `delay` seconds from now or when the process ends, if that is earlier.

    The thread is a daemon, so that the process does not wait for the delay; at its end it waits for work that has
    begun. A fork waits for such work, too, since the child would inherit its locks; the child does not repeat it.
    """

    def __init__(self, name: str, delay: float, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work
        self._lock = threading.RLock()
        self._timer = threading.Timer(delay, self.run)
        self._timer.name, self._timer.daemon = name, True
        atexit.register(self.run)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._forget
            )
        self._timer.start()

    def run(self) -> None:
        """Do the work now, unless it is done, or wait for its end."""
        with self._lock:
            work, self._work = self._work, None
            if work is not None:
                self._timer.cancel()
                work()

    def _forget(self) -> None:
        self._work = None
        self._lock.release()
