"""The long run: worker processes that try one seed after the other, and what came of it.

A worker is told its seeds and sends back one line of JSON for each; one that dies is replaced, and the seed it was at
counts as a failure, as does one that takes longer than PATIENCE seconds.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import ModuleType

from .writer import ANY, Wishes

__all__ = ["PATIENCE", "Summary", "load", "run", "try_seed"]

PATIENCE = 60
"""Seconds that one program may take on all targets together."""


def load(text: str, folder: Path, name: str) -> ModuleType:
    """A module of this text, which lies in a file so that kernels find their source."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _late(*_: object) -> None:
    raise TimeoutError(f"more than {PATIENCE} seconds")


def try_seed(seed: int, targets: Sequence[str], folder: Path, wishes: Wishes = ANY) -> dict:
    """One program: {"seed", "features", "compared"} and, where it failed, "error", "message", "text"."""
    from .compare import check
    from .generate import generate

    case = generate(seed, wishes)
    result: dict = {"seed": seed, "features": case.features, "compared": []}
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(PATIENCE)
    try:
        kernel = load(case.text, folder, f"program_{seed}").kernel
        where = case.grid, case.scalars, case.outputs, case.tolerances, seed, targets
        result["compared"] = check(kernel, *where, **case.options)
    except Exception as e:
        message = re.sub(r"\S*/program_\d+\.py:", "", str(e))
        result.update(error=type(e).__name__, message=message[:2000], trace=traceback.format_exc()[-3000:])
    finally:
        signal.alarm(0)
        (folder / f"program_{seed}.py").unlink(missing_ok=True)
    return result


def _work(pipe: Connection, seeds: Sequence[int], targets: Sequence[str], cache: str, wishes: Wishes = ANY) -> None:
    """What a worker does: one message before each seed, one behind it."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = Path(tempfile.mkdtemp(dir=cache))
    os.environ["TRITIUM_CACHE_DIR"] = str(folder / "cache")
    os.environ["TRITIUM_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "2"
    sys.stdout = open(os.devnull, "w")
    for count, seed in enumerate(seeds):
        pipe.send(("begin", seed))
        result = try_seed(seed, targets, folder, wishes)
        pipe.send(("end", result))
        if "cuda" in targets and result.get("error", "Mismatch") != "Mismatch":
            return  # what is left of the GPU's context may be of no use: another process goes on
        if count % 50 == 49:
            shutil.rmtree(folder / "cache", ignore_errors=True)
    pipe.send(("done", None))
    shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Summary:
    """What came of a run. `compared` counts programs by the targets whose results were compared."""

    first: int
    tried: int = 0
    compared: Counter = field(default_factory=Counter)
    features: Counter = field(default_factory=Counter)
    failures: list[dict] = field(default_factory=list)
    seconds: float = 0.0
    next: int = 0

    def add(self, result: dict) -> None:
        """The result of one seed."""
        self.tried += 1
        self.features.update(result.get("features", {}))
        if "error" in result:
            self.failures.append(result)
        else:
            self.compared[",".join(result["compared"])] += 1

    def write(self, path: Path) -> None:
        """As JSON."""
        path.write_text(json.dumps(self.__dict__, indent=1, default=str))


class _Worker:
    """A process, the seeds it still has, and the one it is at."""

    def __init__(self, seeds: list[int], targets: Sequence[str], cache: str, wishes: Wishes) -> None:
        self.seeds, self.targets, self.cache, self.wishes = seeds, targets, cache, wishes
        self.at: int | None = None
        self.since = time.monotonic()
        self.done = not seeds
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe(duplex=False)
        what = other, self.seeds, self.targets, self.cache, self.wishes
        self.process = context.Process(target=_work, args=what, daemon=True)
        self.process.start()
        other.close()

    def receive(self) -> dict | None:
        """What a message says of a seed, if that is over."""
        try:
            kind, value = self.pipe.recv()
        except EOFError:
            return self.died("the process ended")
        if kind == "begin":
            self.at, self.since = value, time.monotonic()
        elif kind == "done":
            self.done = True
        else:
            self.seeds = self.seeds[1:]
            self.at = None
            return value
        return None

    def died(self, why: str) -> dict | None:
        """A worker that is no more: its seed failed, another process does the others."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
        seed, self.at = self.at, None
        self.seeds = self.seeds[1:] if seed is not None else self.seeds
        status = f"{why}, exit code {self.process.exitcode}"
        self.done = not self.seeds
        if not self.done:
            self.start()
        return None if seed is None else {"seed": seed, "error": "Died", "message": status, "features": {}}


def run(
    seeds: range,
    targets: Sequence[str],
    workers: int,
    seconds: float,
    summary: Summary,
    wishes: Wishes = ANY,
) -> Iterator[dict]:
    """Try the seeds, until the time is over; each result as it comes. `summary` is kept up to date."""
    begin = time.monotonic()
    cache = tempfile.mkdtemp(prefix="tritium-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    team = [_Worker(list(seeds[i::workers]), targets, cache, wishes) for i in range(workers)]
    try:
        while any(not w.done for w in team) and time.monotonic() - begin < seconds:
            ready = wait([w.pipe for w in team if not w.done], timeout=1.0)
            for w in team:
                if w.done:
                    continue
                late = w.at is not None and time.monotonic() - w.since > 2 * PATIENCE
                result = w.receive() if w.pipe in ready else w.died("it hangs") if late else None
                if result is not None:
                    summary.add(result)
                    yield result
            summary.seconds = time.monotonic() - begin
            summary.next = min((w.seeds[0] for w in team if w.seeds), default=seeds.stop)
    finally:
        for w in team:
            w.process.kill()
        shutil.rmtree(cache, ignore_errors=True)
