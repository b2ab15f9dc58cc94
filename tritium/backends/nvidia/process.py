"""A program that is started early and given its input when there is one: what the assembler needs of `subprocess`.

That module and what it imports take 3 ms, which a process that compiles one kernel need not pay.
"""

from __future__ import annotations

import contextlib
import os
import time

from ...support.lazy import LazyModule

__all__ = ["OverdueError", "Process"]

_fcntl = LazyModule("fcntl")
_select = LazyModule("select")

_PIPE = 1 << 20  # bytes that a pipe may hold on Linux, where nobody has set another limit
_SIGKILL, _SIGPIPE, _SIGXFSZ = 9, 13, 25  # as on Linux; Python ignores the last two, and the program should not


class OverdueError(Exception):
    """The program still runs at the end of its time."""


class Process:
    """A program with two pipes: what it reads, and what it writes as output or errors. OSError where it cannot run."""

    def __init__(self, command: list[str]) -> None:
        self.returncode: int | None = None
        ends: list[int] = []
        try:
            ends += _pipe()
            ends += _pipe()
            theirs, self._input, self._output, written = ends
            places = [(os.POSIX_SPAWN_DUP2, end, i) for i, end in enumerate((theirs, written, written))]
            ignored = (_SIGPIPE, _SIGXFSZ)
            self.pid = os.posix_spawn(command[0], command, os.environ, file_actions=places, setsigdef=ignored)
        except BaseException:
            for end in ends:
                os.close(end)
            raise
        os.close(theirs)
        os.close(written)

    def begin(self, text: bytes) -> int:
        """Give it as much of the text as a pipe takes at once, made larger where that is possible; how many bytes.

        Where that is all, its input ends, and it goes on by itself."""
        with contextlib.suppress(AttributeError, OSError):
            _fcntl.fcntl(self._input, _fcntl.F_SETPIPE_SZ, min(len(text) + 1, _PIPE))
        os.set_blocking(self._input, False)
        sent = self._give(memoryview(text))
        if sent == len(text):
            self._end_input()
        return sent

    def finish(self, rest: bytes, seconds: float) -> bytes:
        """Give it the rest of its input, and wait until it has ended: all that it wrote.

        OverdueError after so many seconds; the program still runs then.
        """
        end, left, read = time.monotonic() + seconds, memoryview(rest), b""
        waiting = _select.poll()
        waiting.register(self._output, _select.POLLIN)
        if left:
            waiting.register(self._input, _select.POLLOUT)
        else:
            self._end_input()
        while True:
            ready = dict(waiting.poll(max(0.0, end - time.monotonic()) * 1e3))
            if not ready:
                raise OverdueError
            if self._input in ready:
                left = left[self._give(left) :] if ready[self._input] & _select.POLLOUT else left[:0]
                if not left:
                    waiting.unregister(self._input)
                    self._end_input()
            if self._output in ready:
                part = os.read(self._output, 1 << 16)
                if not part:
                    break
                read += part
        self._wait()
        return read

    def kill(self) -> None:
        """Kill the program if it still runs, and release its resources."""
        self._close()
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, _SIGKILL)
            self._wait()

    def _give(self, text: memoryview) -> int:
        """Write as much of the text as the pipe accepts; all of it if the reader has closed the pipe."""
        try:
            return os.write(self._input, text)
        except BlockingIOError:
            return 0
        except BrokenPipeError:  # its output and status tell why
            return len(text)

    def _end_input(self) -> None:
        end, self._input = self._input, -1
        if end >= 0:
            os.close(end)

    def _close(self) -> None:
        self._end_input()
        end, self._output = self._output, -1
        if end >= 0:
            os.close(end)

    def _wait(self) -> None:
        try:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:  # somebody else has waited for all children
            self.returncode = 0


def _pipe() -> tuple[int, int]:
    """Two ends that are none of the standard streams, even where the process has closed these."""
    ends = os.pipe()
    if min(ends) > 2:
        return ends
    try:
        return _pipe()
    finally:
        for end in ends:
            os.close(end)
