"""The processes of a `CompilerPool`, seen from the one that started them: `start_workers`.

    this process --starts--> fork server, which imports the compiler, compiles a small kernel, and forks
                                |--> worker 1 <--- socket ---> Worker 1 of this process
                                `--> worker n <--- socket ---> Worker n

The compiler is imported once, not by each worker, and a worker's first kernel takes no longer than its others. The fork
server is a new process: this one may hold a GPU's driver and threads, which do not survive a fork.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any

from ..support.lazy import LazyModule
from .entry import Entry
from .messages import receive, send

__all__ = ["Gone", "Worker", "start_workers"]

_subprocess = LazyModule("subprocess")  # 3 ms that a process with cached kernels saves
_socket = LazyModule("socket")
_child = LazyModule("..support.child_environment", __package__)

_PACKAGE = __name__.partition(".")[0]
_START = f"import sys; sys.path[:1] = []; from {_PACKAGE}.compiler.worker import main; main(*sys.argv[1:])"
_PATIENCE = 5.0  # seconds to wait for the exit status of a worker


class Gone(Exception):
    """A worker ended."""


class _ForkServer:
    """The process that forks workers and reports how they ended."""

    def __init__(self, target: Any, channels: list[Any]) -> None:
        described = (str(target.backend), str(target.arch), str(target.warp_size))
        numbers = [channel.fileno() for channel in channels]
        self.process = _subprocess.Popen(
            [sys.executable, "-c", _START, *described, *map(str, numbers)],
            stdin=_subprocess.DEVNULL,
            stdout=_subprocess.PIPE,
            pass_fds=numbers,
            env=_child.child_environment(PYTHONSAFEPATH=""),
            start_new_session=True,  # Ctrl-C interrupts this process only
        )
        self._endings: dict[int | None, int] = {}
        self._said = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Record how workers end, until the last one has ended, and reap the process."""
        for line in self.process.stdout:
            pid, code = map(int, line.split())
            with self._said:
                self._endings[pid] = code
                self._said.notify_all()
        self.process.stdout.close()
        self.process.wait()

    def ending(self, pid: int | None) -> str:
        """How a worker ended."""
        with self._said:
            self._said.wait_for(lambda: pid in self._endings, _PATIENCE)
            code = self._endings.get(pid)
        if code is None:
            return "ended"
        return f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"


class Worker:
    """One process that compiles. `pid` is None until `is_ready` returns True."""

    def __init__(self, fork_server: _ForkServer, channel: Any) -> None:
        self.fork_server = fork_server
        self.pid: int | None = None
        self._channel = channel
        self._jobs, self._answers = channel.makefile("wb"), channel.makefile("rb")

    def is_ready(self) -> bool:
        """Wait until it accepts jobs; False if it ended instead."""
        try:
            told = receive(self._answers)
        except OSError:
            told = None
        if told is not None:
            self.pid = told.metadata["ready"]
        return told is not None

    def ask(self, job: Entry) -> Entry:
        """The answer to a job; `Gone` if the process ends over it."""
        try:
            send(self._jobs, job)
            answer = receive(self._answers)
        except OSError:
            answer = None
        if answer is None:
            raise Gone(self.fork_server.ending(self.pid))
        return answer

    def is_running(self) -> bool:
        """Whether an idle worker is alive: its socket is readable only at its end."""
        self._channel.setblocking(False)
        try:
            return bool(self._channel.recv(1, _socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            self._channel.setblocking(True)

    def close(self) -> None:
        """Close the connection, upon which the worker ends."""
        for end in (self._jobs, self._answers, self._channel):
            with contextlib.suppress(OSError):  # unread data
                end.close()


def start_workers(count: int, target: Any) -> list[Worker]:
    """Start `count` worker processes; most jobs are for `target`. OSError if no process can be started."""
    pairs: list[tuple[Any, Any]] = []
    try:
        for _ in range(count):
            pairs.append(_socket.socketpair())
        fork_server = _ForkServer(target, [theirs for _, theirs in pairs])
    except BaseException:
        for ours, _ in pairs:
            ours.close()
        raise
    finally:
        for _, theirs in pairs:
            theirs.close()
    return [Worker(fork_server, ours) for ours, _ in pairs]
