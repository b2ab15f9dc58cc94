"""The fork server and the worker processes that compile for another process: the stages after a kernel's first.

`worker_processes` starts the fork server. It runs no script of the user's: a job is text. It compiles a small kernel,
so that all modules are imported, and forks one worker a channel. A worker ends when its channel is closed, and after
five minutes without a job; the fork server reports the exit status of each, and ends with the last one.
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
from ..ir.parser import ParseError, parse_module
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
    """The result of a job: the stages after its text, times and warnings; or the error."""
    stated = job.metadata
    with warnings.catch_warnings(record=True) as caught, settings_as(stated["settings"]):
        warnings.simplefilter("always")
        try:
            entry = _compile(stated, str(job.stages["text"]))
        except ParseError:  # an operation that is registered in the other process only
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
    """The source of a job: only the text of its first stage exists here."""

    first_stage = "source"


def _waits(pipe: Any) -> bool:
    """Whether a job arrives before the idle time is over."""
    return bool(select.select([pipe], [], [], IDLE_SECONDS)[0])


def main(backend: str, arch: str, warp_size: str, *channels: str) -> None:
    """Fork a worker for each channel, a file descriptor of a connected socket. Most jobs are for the target."""
    endings = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of compiles must not get between them
    gc.disable()  # garbage of jobs is collected between them
    target = make_backend(GPUTarget(backend, int(arch) if arch.isdigit() else arch, int(warp_size)))
    target.prepare()
    with warnings.catch_warnings(), contextlib.suppress(Exception):  # a job reports the same error
        warnings.simplefilter("ignore")
        _compile_first_job(target)
    gc.collect()
    gc.freeze()
    numbers = [int(number) for number in channels]
    forked = 0
    for number in numbers:
        try:
            pid = os.fork()
        except OSError:  # no more processes: the channels of the others are closed
            break
        if pid == 0:
            _serve(number, [other for other in numbers if other != number])
        forked += 1
    for number in numbers:
        os.close(number)
    for _ in range(forked):
        pid, status = os.wait()
        with contextlib.suppress(BrokenPipeError):  # the reader has ended
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
    """Run a worker until its channel is closed, and exit."""
    status = 1
    try:
        share_cores()
        for other in others:
            os.close(other)
        with socket.socket(fileno=number) as channel:
            _work(channel)
        status = 0
    except (BrokenPipeError, ConnectionResetError):
        status = 0  # the parent has ended
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)  # atexit functions are the parent's


def _work(channel: socket.socket) -> None:
    """Answer jobs until the channel is closed."""
    jobs: Any = channel.makefile("rb", buffering=0)  # no job may be buffered where `select` does not see it
    answers = channel.makefile("wb")
    send(answers, Entry({"ready": os.getpid()}))
    while _waits(jobs):
        job = receive(jobs)
        if job is None:
            return
        send(answers, answer(job))
        del job
        gc.collect()
