"""Two compilers by turns of processes: workloads compiled in parallel first, then measured by turns, one at a time.

Each compiler has a process that keeps a workload ready (`public_worker.py`). A turn of one measures the GPU time of its
kernels while the other waits; five alternations give a median and a spread. Inputs are equal, outputs are compared.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["SIDES", "Engine", "Figure", "Measured", "card", "clocks", "geometric_mean", "names_in"]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SIDES = ("ours", "triton")


@dataclass
class Figure:
    """Microseconds of one kernel in a run of its workload, one value per turn."""

    name: str
    ours: list[float]
    triton: list[float]

    @property
    def ratios(self) -> list[float]:
        """Triton's time over ours, per alternation, sorted: above 1 ours is faster."""
        return sorted(b / a for a, b in zip(self.ours, self.triton))

    @property
    def ratio(self) -> float:
        """The median of `ratios`."""
        return statistics.median(self.ratios)


@dataclass
class Measured:
    """A workload: its kernels' figures, what the outputs' comparison found, and why it could not be measured."""

    name: str
    kernels: list[Figure] = field(default_factory=list)
    difference: str = ""
    error: str = ""
    host: dict[str, list[float]] = field(default_factory=dict)
    peer: list[float] = field(default_factory=list)
    chosen: dict[str, str] = field(default_factory=dict)


class Process:
    """A worker with the compiler of a checkout, or with Triton; started again where it died."""

    def __init__(self, compiler: Path | None, options: list[str], environment: dict[str, str]) -> None:
        start = [sys.executable, "-W", "ignore", *(["-m", "tritium", "run"] if compiler else [])]
        self._command, self._environment = [*start, str(HERE / "public_worker.py"), *options], environment
        self._folder = compiler or ROOT
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def ask(self, limit: float, **command: Any) -> dict[str, Any]:
        """The answer to a command; an error where it takes more than `limit` seconds or ends the process."""
        end = time.monotonic() + limit
        if self._process is None:
            self._rest = b""
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=self._environment, cwd=self._folder,
            )  # fmt: skip
            first = self._read(end)
            if not first.get("ready"):
                return first
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._ended("ended before the command")
        answer = self._read(end)
        if answer.get("fatal"):
            self.stop()
        return answer

    def _read(self, end: float) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        while b"\n" not in self._rest:
            left = end - time.monotonic()
            ready = select.select([self._process.stdout], [], [], max(0.0, left))[0]
            if not ready:
                return self._ended("time limit")
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:
                return self._ended("the process ended")
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))

    def _ended(self, why: str) -> dict[str, Any]:
        assert self._process is not None
        status = self._process.poll()
        self.stop()
        return {"ok": False, "error": f"{why} (exit status {status})"}

    @property
    def alive(self) -> bool:
        """Whether the process still has what it was given."""
        return self._process is not None

    def stop(self) -> None:
        """End the process; the next command starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = None


class _Tasks:
    """Tasks that threads take: of the module that the process has imported if there are any, else the first."""

    def __init__(self, tasks: list[tuple[str, int, int]]) -> None:
        self._left, self._lock = list(tasks), threading.Lock()

    def take(self, module: str) -> tuple[str, int, int] | None:
        """The next task; None where all are taken."""
        with self._lock:
            same = [task for task in self._left if task[0].partition(".")[0] == module]
            task = next(iter(same or self._left), None)
            if task is not None:
                self._left.remove(task)
            return task


class Engine:
    """Compiles and measures workloads on both sides. Triton's side is another checkout of this compiler with `beside`,
    and this compiler without some of its optimizations with `without`."""

    def __init__(
        self, checkouts: Path, configurations: int, limit: float, rehearsal: Path | None = None,
        beside: Path | None = None, without: str = "",
    ) -> None:  # fmt: skip
        self.folder = Path(tempfile.mkdtemp(prefix="turns-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self._options = ["--checkouts", str(checkouts.resolve()), "--configurations", str(configurations)]
        self._rehearsal = rehearsal
        other = beside.resolve() if beside else ROOT if without else None
        self._compilers = {"ours": ROOT, "triton": other}
        self._without = {"ours": "", "triton": without}
        self.end = time.monotonic() + limit
        self.pair = {side: self._process(side) for side in SIDES}
        self._loading: list[threading.Thread] = []

    def _process(self, side: str, **more: str) -> Process:
        site = os.environ.get("PUBLIC_SITE", "")
        compiler = self._compilers[side]
        first = [str(compiler)] if compiler else []
        environment = {
            **os.environ, **more, "TRITIUM_CACHE_DIR": str(self.folder / side),
            "TRITON_CACHE_DIR": str(self.folder / side), "PYTHONUNBUFFERED": "1",
            "TRITIUM_WITHOUT": self._without[side],
            "PYTHONPATH": os.pathsep.join(filter(None, (*first, os.environ.get("PYTHONPATH"), str(ROOT), site))),
        }  # fmt: skip
        options = list(self._options)
        if self._rehearsal is not None:
            options += ["--rehearse", str(self._rehearsal / side)]
            environment |= {"TRITIUM_TARGET": "emulated:90"} if compiler else {}
        return Process(compiler, options, environment)

    def left(self) -> float:
        """Seconds until the time limit."""
        return self.end - time.monotonic()

    def compile(self, tasks: list[tuple[str, int, int]], jobs: dict[str, int], limit: float) -> dict[str, str]:
        """Compile each (workload, part, parts) on both sides with so many processes; the errors by workload.

        A part of n compiles every n-th configuration of each autotuner. What is not begun within `limit` seconds is
        compiled when it is measured; what a part refuses (a configuration that does not fit) is no error either.
        """
        end = time.monotonic() + limit
        errors: dict[str, str] = {}
        threads = []
        for side, count in jobs.items():
            waiting = _Tasks(tasks)

            def work(side: str = side, waiting: _Tasks = waiting) -> None:
                process = self._process(side, TRITIUM_AUTOTUNE_PROCESSES="1")
                name = ""
                while time.monotonic() < end:
                    task = waiting.take(name.partition(".")[0])
                    if task is None:
                        break
                    name, part, parts = task
                    answer = process.ask(
                        max(5.0, end - time.monotonic()), do="prepare", name=name, keep=False, part=[part, parts]
                    )
                    if not answer["ok"] and parts == 1 and "time limit" not in answer["error"]:
                        errors.setdefault(name, f"{side}: {answer['error']}")
                process.stop()

            threads += [threading.Thread(target=work, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(1.0, end + 10 - time.monotonic()))
        return errors

    def load(self, modules: list[str]) -> None:
        """Begin to import drivers in both measuring processes, which are idle while others compile."""

        def work(process: Process) -> None:
            for module in modules:
                process.ask(60, do="load", module=module)

        self._loading = [threading.Thread(target=work, args=(process,), daemon=True) for process in self.pair.values()]
        for thread in self._loading:
            thread.start()

    def measure(self, names: list[str], alternations: int, repeats: int, host: bool = False) -> list[Measured]:
        """Measure some workloads by turns: all are kept ready, and a turn runs all of them."""
        found = {name: Measured(name) for name in names}
        began = time.monotonic()
        for thread in self._loading:
            thread.join()
        left = self._prepared(found)
        prepared = time.monotonic() - began
        file = str(self.folder / "outputs.pt")
        self.pair["triton"].ask(60, do="save", file=file)
        answer = self.pair["ours"].ask(60, do="compare", file=file)
        for name in left:
            found[name].difference = answer.get("differences", {}).get(name, answer.get("error", ""))
        turns: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
        for number in range(alternations if left else 0):
            for side in SIDES[:: 1 if number % 2 else -1]:
                answer = self.pair[side].ask(60, do="measure", names=left, repeats=repeats, host=host)
                if not answer["ok"]:
                    for name in left:
                        found[name].error = f"{side}, measuring with {len(left)} others: {answer['error']}"
                    self._drop()
                    return list(found.values())
                turns[side].append(answer)
        for name in left:
            _fill(found[name], name, turns)
        self._drop()
        seconds = time.monotonic() - began
        print(f"  {len(left)} workloads prepared in {prepared:.1f} s, measured by {seconds:.1f} s", flush=True)
        return list(found.values())

    def _prepared(self, found: dict[str, Measured]) -> list[str]:
        """Prepare workloads on both sides; returns those that both have ready."""
        while True:
            left = [name for name, result in found.items() if not result.error]
            again = False
            for side, process in self.pair.items():
                for name in left:
                    if found[name].error:
                        continue
                    answer = process.ask(min(40.0, max(8.0, self.left())), do="prepare", name=name)
                    if not answer["ok"]:
                        found[name].error = f"{side}: {answer['error']}"
                        again |= not process.alive  # what was ready is lost
            if not again:
                return [name for name in left if not found[name].error]
            self._drop()

    def _drop(self) -> None:
        for process in self.pair.values():
            process.ask(20, do="drop")

    def stop(self) -> None:
        """End both processes."""
        for process in self.pair.values():
            process.stop()


def _fill(result: Measured, name: str, turns: dict[str, list[dict[str, Any]]]) -> None:
    """Take the figures of one workload from the answers of all turns."""
    times = {side: [answer["kernels"][name] for answer in answers] for side, answers in turns.items()}
    names = [k for k in times["ours"][0] if all(k in turn for side in SIDES for turn in times[side])]
    result.kernels = [Figure(k, *([turn[k] for turn in times[side]] for side in SIDES)) for k in names]
    only = {k for side in SIDES for turn in times[side] for k in turn} - set(names)
    if only:
        result.error = f"measured on one side only: {', '.join(sorted(only))}"
    for side, answers in turns.items():
        result.chosen[side] = answers[-1].get("chosen", "")
        result.host[side] = [answer["host"][name] for answer in answers if "host" in answer]
        result.peer += [answer["peers"][name] for answer in answers if name in answer.get("peers", {})]


class clocks:
    """While in its block: the SM clock and power of the card each second, as nvidia-smi reports them."""

    def __enter__(self) -> clocks:
        self.samples: list[tuple[float, float]] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        query = ["nvidia-smi", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits"]
        while not self._stopped.wait(1.0):
            try:
                line = subprocess.run(query, capture_output=True, text=True, timeout=5).stdout.splitlines()[0]
                clock, power = (float(part) for part in line.split(","))
                self.samples.append((clock, power))
            except (OSError, IndexError, ValueError, subprocess.TimeoutExpired):
                return

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(6)

    def __str__(self) -> str:
        if not self.samples:
            return "SM clock unknown"
        low, middle, high = (f([clock for clock, _ in self.samples]) for f in (min, statistics.median, max))
        power = max(power for _, power in self.samples)
        return f"SM clock {middle:.0f} MHz ({low:.0f} to {high:.0f}), power {power:.0f} W at most"


def card() -> str:
    """The card and its driver, as nvidia-smi names them."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True).stdout.strip()
    except OSError:
        return "no NVIDIA card"


def geometric_mean(values: list[float]) -> float:
    """The geometric mean; 1 of nothing."""
    return statistics.geometric_mean(values) if values else 1.0


def names_in(module: Path) -> list[str]:
    """The workloads that a driver module defines, in order, without importing it."""
    lines = module.read_text().split("\n")
    return [
        f"{module.stem}.{after.removeprefix('def ').partition('(')[0]}"
        for line, after in itertools.pairwise(lines)
        if line == "@workload"
    ]
