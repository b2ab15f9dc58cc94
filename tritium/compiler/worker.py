"""A process that compiles for another one: the stages behind a kernel's first, a job at a time, from pipe to pipe.

`CompilerPool` starts it. It runs no script of the user's: a job is text. It ends when nobody writes to it any more, and
after five minutes without a job.
"""

from __future__ import annotations

import gc
import os
import select
import sys
import warnings
from typing import Any, BinaryIO

from ..backends.compiler import GPUTarget
from ..ir import ParseError, parse_module
from .backend import make_backend
from .cache import Entry
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


def _waits(pipe: BinaryIO) -> bool:
    """Whether a job comes before there has been none for too long."""
    return bool(select.select([pipe], [], [], IDLE_SECONDS)[0])


def main(backend: str, arch: str, warp_size: str) -> None:
    """Answer jobs until there are no more. The target is what most of them are for: what it needs is imported first."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what compiling prints must not come between the answers
    jobs = os.fdopen(os.dup(0), "rb", buffering=0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    gc.disable()  # what jobs leave is collected between them
    make_backend(GPUTarget(backend, int(arch) if arch.isdigit() else arch, int(warp_size))).prepare()
    gc.freeze()
    try:
        send(replies, Entry({"ready": True}))
        while _waits(jobs):
            job = receive(jobs)
            if job is None:
                return
            send(replies, answer(job))
            del job
            gc.collect()
    except BrokenPipeError:
        sys.stderr.close()  # who asked is gone
