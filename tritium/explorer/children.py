"""Child processes of the server: their messages, what they print, and their end. No shell is involved."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from ..support.child_environment import child_environment
from .json_types import Record

__all__ = ["Child", "Message", "ended"]

Message = Record

GRACE_SECONDS = 1.0
"""Between SIGTERM and SIGKILL."""


class Child:
    """A Python process that runs a module of this package; callbacks are called in threads.

    The module gets the number of a descriptor for messages as its first argument. `on_end` gets the exit status after
    everything that was printed and sent has been read. Only a process that takes requests has a standard input.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        on_message: Callable[[Message], None],
        on_output: Callable[[str], None],
        on_end: Callable[[int], None],
        takes_requests: bool = False,
    ) -> None:
        reading, writing = os.pipe()
        command = [sys.executable, "-m", f"{__package__}.{module}", str(writing), *arguments]
        environment = child_environment(PYTHONUNBUFFERED="1")
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if takes_requests else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[writing],
                start_new_session=True,
                env=environment,
            )
        finally:
            os.close(writing)
        self._readers = [
            threading.Thread(target=_read_messages, args=(reading, on_message), daemon=True),
            threading.Thread(target=self._read_output, args=(on_output,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        threading.Thread(target=self._wait, args=(on_end,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def send(self, message: Message) -> None:
        """Write a request to the standard input of the process. OSError if it has ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def stop(self) -> None:
        """End the process and those that it started."""
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit status; None if it still runs after so many seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _read_output(self, on_output: Callable[[str], None]) -> None:
        stream = self._process.stdout
        assert stream is not None
        while data := os.read(stream.fileno(), 1 << 16):
            on_output(data.decode(errors="replace"))

    def _wait(self, on_end: Callable[[int], None]) -> None:
        status = self._process.wait()
        for reader in self._readers:
            reader.join(GRACE_SECONDS)  # a grandchild may keep the pipes open
        on_end(status)


def _read_messages(descriptor: int, on_message: Callable[[Message], None]) -> None:
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # the process was killed in the middle of a line
            on_message(message)


def ended(status: int) -> str:
    """How a process ended, in words.

    >>> ended(-9), ended(1)
    ('was killed by SIGKILL', 'ended with status 1')
    """
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
