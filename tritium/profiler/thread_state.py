"""The profiler's state of each thread: scopes, and launches in progress."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["ThreadState", "thread_state"]


class ThreadState(threading.local):
    """`states`: names entered by `enter_state`; `op`: the operation that the next launch is.

    `launches`: those under way, `watched`: scopes that are timed unless a kernel is launched in them, `recorded`: how
    many times have been taken, see `timing`.
    """

    def __init__(self) -> None:
        self.states: list[str] = []
        self.op: Any = None
        self.launches: list[Any] = []
        self.watched: list[Any] = []
        self.recorded = 0


thread_state = ThreadState()
