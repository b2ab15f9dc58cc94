"""Processes that compile for this one: `CompilerPool`.

A kernel's first stage is compiled here (a few milliseconds, and only this process has its functions and globals); its
text is sent to a worker, which returns the later stages. Workers (`worker_processes`) are started when there are jobs
for several of them, and are kept. Starting them takes as long as compiling a kernel or two: until the first is ready
this process compiles, too, and a small amount of work is finished by then.

Some compiles cannot run in a worker: those with the user's backends or hooks, whose code exists only here, and those
that print, since the output of several processes would be mixed. They run here, one after another.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from ..backends.errors import BackendError
from ..support import settings
from ..support.cores import usable_cores
from ..support.dataclasses import asdict
from ..support.deferred_warnings import warn
from ..support.idle import run_pending
from .backend import make_backend
from .entry import Entry
from .messages import error_of, options_of, stated_settings
from .plugins import foreign_insertions
from .run_stages import Lowering
from .worker_processes import Gone, Worker, start_workers

__all__ = ["CompilerPool", "shared_pool"]

_PACKAGE = __name__.partition(".")[0]
FEW = 3  # jobs at most for which no process is started

# settings that make a compile print, or write or read files
_PRINTING = {
    "compilation": (
        "dump_passes", "print_passes", "timing", "diagnostics", "dump_llvm", "time_llvm", "reproducer_path", "override",
        "dump_ir", "use_ir_loc",
    ),
    "nvidia": ("dump_ptxas_log", "dump_nvptx"),
}  # fmt: skip

Texts = dict[str, "str | bytes"]


class CompilerPool:
    """At most `size` worker processes that run the stages of kernels, for any number of threads that call `run`.

    `expect(jobs)` announces a number of jobs; for a few no process is started, and they run here.
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = usable_cores() if size is None else size
        self._wanted = 0
        self._turn = threading.Lock()
        self._changed = threading.Condition()  # holds for all below
        self._workers: list[Worker] = []
        self._free: list[Worker] = []
        self._ready = 0  # workers, free or not
        self._busy_here = False
        atexit.register(self.close)

    def expect(self, jobs: int) -> None:
        """Announce a number of jobs, some of which may be cached."""
        self._wanted = min(jobs, self.size) if jobs > FEW and self.size > 1 and _has_interpreter() else 0

    def begin(self, work: Lowering) -> Texts:
        """The text of the first stage. Threads compile first stages one at a time, so that the first worker gets a job
        when the first text exists, not when all do."""
        if _is_portable(work):  # processes start while this one imports the frontend
            self._start(work.backend.describe())
        with self._turn:
            return work.begin()

    def run(self, work: Lowering) -> Texts:
        """The texts of the later stages; metadata and times of the work are completed. Raises the errors of these
        stages; BackendError if the worker ends during the job."""
        worker = self._take(_is_portable(work))
        if worker is not None:
            work.times.running = "in another process"
            run_pending(long=True)
            try:
                answer = worker.ask(_job(work))
            except Gone as ending:
                self._drop(worker, ready=1)
                raise BackendError(f"the process that compiled {work.metadata['name']} {ending}") from None
            self._release(worker)
            if "unread" not in answer.metadata:
                return _taken_over(answer, work)
            worker = self._take(portable=False)
        try:
            return work.run()
        finally:
            self._release(worker)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Compile nothing in this process meanwhile; waits for what it compiles now. Workers go on.

        Compiling holds the interpreter for milliseconds at a time: a launch that is timed beside it begins late, and
        the events around it measure the wait.
        """
        with self._changed:
            while self._busy_here:
                self._changed.wait()
            self._busy_here = True
        try:
            with self._turn:
                yield
        finally:
            self._release(None)

    def close(self) -> None:
        """Close all workers."""
        with self._changed:
            workers, self._workers, self._free, self._ready = self._workers, [], [], 0
        for worker in workers:
            worker.close()

    def _start(self, target: Any) -> None:
        with self._changed:
            missing = self._wanted - len(self._workers)
            try:
                started = start_workers(missing, target) if missing > 0 else []
            except OSError:  # there can be no more processes
                self._wanted, started = 0, []
            self._workers += started
        for worker in started:
            threading.Thread(target=self._await, args=(worker,), daemon=True).start()

    def _await(self, worker: Worker) -> None:
        """Add a worker to the free ones once it is ready."""
        if not worker.is_ready():
            self._drop(worker, ready=0)
            return
        with self._changed:
            if worker in self._workers:
                self._ready += 1
                self._free.append(worker)
                self._changed.notify_all()

    def _take(self, portable: bool) -> Worker | None:
        """A free worker; or None, this process, for work that is not portable, or while no worker is ready."""
        with self._changed:
            while True:
                while portable and self._free:
                    worker = self._free.pop()
                    if worker.is_running():
                        return worker
                    self._drop(worker, ready=1)  # it ended after its idle time
                if not self._busy_here and not (portable and self._ready):
                    self._busy_here = True
                    return None
                self._changed.wait()

    def _release(self, worker: Worker | None) -> None:
        with self._changed:
            if worker is None:
                self._busy_here = False
            elif worker in self._workers:
                self._free.append(worker)
            self._changed.notify_all()

    def _drop(self, worker: Worker, ready: int) -> None:
        """Remove a worker that ended; `ready` is 1 if it was counted as ready."""
        with self._changed:
            if worker in self._workers:
                self._workers.remove(worker)
                self._ready -= ready
            self._changed.notify_all()
        worker.close()


def _has_interpreter() -> bool:
    """Whether the executable of this process is Python, and not a program that embeds it; on a system with `fork`."""
    return "py" in os.path.basename(sys.executable or "").lower() and hasattr(os, "fork")


def _is_portable(work: Lowering) -> bool:
    """Whether another process can do the work with the same result."""
    backend, options = work.backend, work.options
    hooked = settings.runtime.add_stages_inspection_hook is not None
    if work.src.first_stage != "source" or work.replaced is not None or work.trace is not None or hooked:
        return False
    if settings.insertions.value and foreign_insertions():
        return False
    if type(backend).__module__.partition(".")[0] != _PACKAGE:
        return False
    if any(getattr(settings.GROUPS[group], name) for group, names in _PRINTING.items() for name in names):
        return False
    twin = make_backend(backend.describe())
    stated = json.loads(json.dumps(asdict(options)))
    return twin.hash() == backend.hash() and twin.parse_options(options_of(stated)) == options


def _job(work: Lowering) -> Entry:
    stated = {
        "target": tuple(work.backend.describe()),
        "options": asdict(work.options),
        "stages": list(work.stages),
        "metadata": work.metadata,
        "settings": stated_settings(),
    }
    text = work.text if "loc(" in str(work.text) else work.value.to_text(work.value, locations=True)
    return Entry(stated, {"text": str(text)})


def _taken_over(answer: Entry, work: Lowering) -> Texts:
    """The texts in a worker's answer; its warnings are issued here, its error is raised here."""
    for category, text in answer.metadata["warnings"]:
        warn(text, _category(category))
    if "error" in answer.metadata:
        raise error_of(answer.metadata["error"])
    work.metadata.clear()
    work.metadata.update(answer.metadata["metadata"])
    work.times.lowering_stages += [(name, took) for name, took in answer.metadata["times"]]
    return answer.stages


def _category(described: str) -> type[Warning]:
    module, _, name = described.partition(":")
    known = module == "builtins" or module.partition(".")[0] == _PACKAGE
    found = getattr(importlib.import_module(module), name, UserWarning) if known else UserWarning
    return found if isinstance(found, type) and issubclass(found, Warning) else UserWarning


_shared: dict[int, CompilerPool] = {}


def shared_pool(size: int) -> CompilerPool:
    """The pool of this process, from now on with at most `size` workers. A forked process gets another one."""
    pool = _shared.get(os.getpid())
    if pool is None:
        pool = _shared[os.getpid()] = CompilerPool(size)
    pool.size = size
    return pool
