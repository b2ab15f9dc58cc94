"""The events of a session: numbered, kept for clients that connect or reconnect later."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from .json_types import Json, Record

__all__ = ["EventLog"]

Event = Record

MAX_KEPT = 5000
"""Events that are kept; a client that missed more reads the session again."""


class EventLog:
    """Events with sequence numbers from 1. Several threads may add; listeners are called without the lock."""

    def __init__(self) -> None:
        self.sequence = 0
        self._lock = threading.Lock()
        self._kept: deque[tuple[int, Event]] = deque(maxlen=MAX_KEPT)
        self._listeners: list[Callable[[], None]] = []

    def add(self, type: str, **fields: Json) -> None:
        """Add an event, and wake the listeners."""
        with self._lock:
            self.sequence += 1
            self._kept.append((self.sequence, {"type": type, **fields}))
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def since(self, sequence: int) -> list[tuple[int, Event]]:
        """The events after a sequence number, in order."""
        with self._lock:
            return [(number, event) for number, event in self._kept if number > sequence]

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each event."""
        with self._lock:
            self._listeners.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Do not call `listener` any more."""
        with self._lock:
            self._listeners.remove(listener)
