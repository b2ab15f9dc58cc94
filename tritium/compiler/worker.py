"""A process that compiles for another one: the stages behind a kernel's first, a job at a time, from pipe to pipe.

`worker_processes` starts it. It runs no script of the user's: a job is text. It compiles something small, so that all
is imported, and forks one process a channel. Each ends when nobody writes to it any more, and after five minutes
without a job; with the last of them ends the process that forked them, which has said how each did.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import socket
import traceback
import warnings
from typing import Any, NoReturn

from ..backends.compiler import GPUTarget
from ..ir import ParseError, parse_module
from ..support.cores import share_cores
from ..support.dataclasses import asdict
from .backend import make_backend
from .entry import Entry
from .first_job import NAME, TEXT
from .messages import describe_error, options_of, receive, send, settings_as
from .plugins import load_plugins
from .run_stages import CompileTimes, Lowering

__all__ = ["answer", "main"]

IDLE_SECONDS = 300.0


def answer(job: Entry) -> Entry:
    """What comes out of a job: the stages behind its text, times and warnings; or the error."""
    stated = job.metadata
    with warnings.catch_warnings(record=True) as caught, settings_as(stated["settings"]):
        warnings.simplefilter("always")
        try:
            entry = _compile(stated, str(job.stages["text"]))
        except ParseError:  # an operation that somebody has registered in the other process only
            entry = Entry({"unread": True})
        except Exception as error:
            entry = Entry({"error": describe_error(error)})
    entry.metadata["warnings"] = [
        [f"{w.category.__module__}:{w.category.__qualname__}", str(w.message)] for w in caught
    ]
    return entry


def _compile(stated: dict[str, Any], text: str) -> Entry:
    load_plugins()
    backend = make_backend(GPUTarget(*stated["target"]))
    stages: dict[str, Any] = {}
    backend.add_stages(stages, backend.parse_options(options_of(stated["options"])))
    stages = {name: stage for name, stage in stages.items() if name in stated["stages"]}
    module = parse_module(text, stated["metadata"]["name"])
    work = Lowering(_Text(), backend, stages, None, stated["metadata"], CompileTimes(), value=module)
    texts = work.run()
    return Entry({"metadata": work.metadata, "times": work.times.lowering_stages}, texts)


class _Text:
    """The source of a job, of which only the first stage is known."""

    ext = "source"


def _waits(pipe: Any) -> bool:
    """Whether a job comes before there has been none for too long."""
    return bool(select.select([pipe], [], [], IDLE_SECONDS)[0])


def main(backend: str, arch: str, warp_size: str, *channels: str) -> None:
    """Fork a worker for each channel, the number of a connected socket. The target is what most jobs are for."""
    endings = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compiling prints must not come between them
    gc.disable()  # what jobs leave is collected between them
    target = make_backend(GPUTarget(backend, int(arch) if arch.isdigit() else arch, int(warp_size)))
    target.prepare()
    with warnings.catch_warnings(), contextlib.suppress(Exception):  # jobs meet what is wrong here, and say so
        warnings.simplefilter("ignore")
        _compile_first_job(target)
    gc.collect()
    gc.freeze()
    numbers = [int(number) for number in channels]
    forked = 0
    for number in numbers:
        try:
            pid = os.fork()
        except OSError:  # there can be no more processes: the channels of the others end
            break
        if pid == 0:
            _serve(number, [other for other in numbers if other != number])
        forked += 1
    for number in numbers:
        os.close(number)
    for _ in range(forked):
        pid, status = os.wait()
        with contextlib.suppress(BrokenPipeError):  # who would read it is gone
            print(pid, os.waitstatus_to_exitcode(status), file=endings, flush=True)


def _compile_first_job(target: Any) -> None:
    options = target.parse_options({})
    stages: dict[str, Any] = {}
    target.add_stages(stages, options)
    stated = {
        "target": tuple(target.describe()),
        "options": {},
        "stages": list(stages),
        "metadata": {**asdict(options), "name": NAME},
    }
    _compile(stated, TEXT)


def _serve(number: int, others: list[int]) -> NoReturn:
    """Be a worker, and end."""
    status = 1
    try:
        share_cores()
        for other in others:
            os.close(other)
        with socket.socket(fileno=number) as channel:
            _work(channel)
        status = 0
    except (BrokenPipeError, ConnectionResetError):
        status = 0  # who asked is gone
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)  # what is registered for the end of the process is its parent's


def _work(channel: socket.socket) -> None:
    """Answer jobs until there are no more."""
    jobs: Any = channel.makefile("rb", buffering=0)  # nothing of a job may wait where `select` does not see it
    answers = channel.makefile("wb")
    send(answers, Entry({"ready": os.getpid()}))
    while _waits(jobs):
        job = receive(jobs)
        if job is None:
            return
        send(answers, answer(job))
        del job
        gc.collect()
