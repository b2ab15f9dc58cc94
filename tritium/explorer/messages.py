"""Messages of a child process to the server: one JSON object a line, on a file descriptor of its own."""

from __future__ import annotations

import json
import os
import threading
import time

from .json_types import Json

__all__ = ["Channel", "end_with_parent"]


class Channel:
    """The writing end, in the child."""

    def __init__(self, descriptor: int) -> None:
        self.file = os.fdopen(descriptor, "w", encoding="utf-8", buffering=1)
        self._lock = threading.Lock()

    def send(self, **message: Json) -> None:
        """Write a message. Without a reader the process ends: the server is gone."""
        try:
            with self._lock:
                self.file.write(json.dumps(message, default=str) + "\n")
                self.file.flush()
        except (OSError, ValueError):
            os._exit(1)


def end_with_parent() -> None:
    """End this process when its parent ends, also while a kernel runs."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end with parent").start()
