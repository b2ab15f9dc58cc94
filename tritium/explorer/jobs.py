"""Jobs for the process that compiles, evaluates and checks: one at a time, each can be stopped."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from ..support.dataclasses import dataclass
from .children import Child, Message, ended
from .events import EventLog
from .json_types import Json, Record
from .model import Place, as_json

__all__ = ["Job", "JobQueue"]


@dataclass
class Job:
    """A request to the worker, and how it went.

    `at_end(job, state)` is called with its last state before the job has that, and before the event of its end.
    """

    id: str
    kind: str
    request: Message
    at_end: Callable[[Job, str], None]
    answer: Json = None
    state: str = "running"
    message: str = ""
    document: str | None = None
    result: str | None = None
    ms: float | None = None
    place: Place | None = None

    def event(self) -> Record:
        """The fields of its event."""
        names = ("id", "kind", "state", "message", "document", "result", "ms", "place")
        return {name: as_json(getattr(self, name)) for name in names}


class JobQueue:
    """Jobs in the order in which they were added. A job is stopped by ending the worker, which is started again."""

    def __init__(
        self, start: Callable[[Callable[[Message], None], Callable[[int], None]], Child], log: EventLog
    ) -> None:
        self._start = start
        self._log = log
        self._lock = threading.RLock()
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._child: Child | None = None
        self._number = 0
        self._closed = False
        self.jobs: dict[str, Job] = {}

    def warm_up(self) -> None:
        """Start the worker before its first job."""
        with self._lock:
            if self._child is None and not self._closed:
                self._child = self._start(self._on_message, self._on_end)

    def add(self, kind: str, request: Message, at_end: Callable[[Job, str], None]) -> Job:
        """Add a job, whose end is an event."""
        job = self.new(kind, {**request, "kind": kind}, at_end)
        with self._lock:
            self._waiting.append(job)
            self._next()
        return job

    def new(self, kind: str, request: Message, at_end: Callable[[Job, str], None]) -> Job:
        """A job that is not for the worker."""
        with self._lock:
            self._number += 1
            job = Job(f"j{self._number}", kind, request, at_end)
            self.jobs[job.id] = job
        self._log.add("job", **job.event())
        return job

    def end(self, job: Job, state: str, message: str = "", ms: float | None = None) -> None:
        """A job ends; an event says so."""
        job.message, job.ms = message, ms
        try:
            job.at_end(job, state)
        except Exception as error:  # an answer that makes no sense is a failed job, not a dead server
            state, message = "failed", f"{type(error).__name__}: {error}"
        with self._lock:
            job.state, job.message = state, message  # again: it may have told how far it was meanwhile
            self._log.add("job", **job.event())

    def tell(self, job: Job, message: str) -> None:
        """An event with how far a job is, if it still runs."""
        with self._lock:
            if job.state == "running" and job.message != message:
                job.message = message
                self._log.add("job", **job.event())

    def stop(self, id: str | None) -> bool:
        """Stop a job, or the running one; whether there was one."""
        with self._lock:
            job = self._running if id is None else self.jobs.get(id)
            if job is None or job.state != "running":
                return False
            if job in self._waiting:
                self._waiting.remove(job)
            child = self._child if job is self._running else None
            if job is self._running:
                self._running, self._child = None, None
        if child is not None:
            child.stop()
        self.end(job, "stopped")
        with self._lock:
            self._next()
        return True

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        return self._running is not None or bool(self._waiting)

    @property
    def running(self) -> Job | None:
        """The job that the worker runs."""
        return self._running

    @property
    def worker(self) -> int | None:
        """The id of the worker's process."""
        return None if self._child is None else self._child.pid

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._closed = True
            child, self._child = self._child, None
        if child is not None:
            child.stop()

    def _next(self) -> None:
        if self._running is not None or not self._waiting or self._closed:
            return
        self._running = job = self._waiting.popleft()
        for _ in range(2):
            if self._child is None:
                self._child = self._start(self._on_message, self._on_end)
            try:
                self._child.send({**job.request, "job": job.id})
                return
            except OSError:
                self._child = None  # it ended while it was idle

    def _on_message(self, message: Message) -> None:
        if message["type"] != "answer":
            return
        with self._lock:
            job = self._running
            if job is None or job.id != message["job"]:
                return
        job.answer = message.get("answer")
        self.end(job, message["state"], message.get("message", ""), message["ms"])
        with self._lock:
            if self._running is job:
                self._running = None
            self._next()

    def _on_end(self, status: int) -> None:
        with self._lock:
            job, child = self._running, self._child
            if self._closed or job is None or (child is not None and child.wait(0) is None):
                return
            self._running, self._child = None, None
        self.end(job, "failed", f"the process that compiles {ended(status)}; it is started again")
        with self._lock:
            self._next()
