"""The processes of `triton_suite`: Triton's test files under pytest, with `import triton` answered by Tritium.

A process may crash or hang: its parent reads the events it wrote (`triton_plugin`), gives the test it was at that outcome,
and starts another process for the rest.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Checkout", "Worker", "collect"]

ROOT = Path(__file__).resolve().parents[2]
START = 180.0  # seconds that a process may take to its first test

# stands on PYTHONPATH as the package `triton`, so that processes which tests start meet Tritium too, or a peer's Triton
SHIM = """\
import importlib.util, sys
del sys.modules["triton"]
{begin}

class Theirs:
    def find_spec(name, path=None, target=None):
        if name == "triton._internal_testing":
            return importlib.util.spec_from_file_location(name, {shared!r})

sys.meta_path.insert(0, Theirs)
import triton
"""
OURS = "import tritium; tritium.install(); sys.path.insert(0, {own!r})"  # in front of what it adds for children
PEERS = "sys.path.remove({own!r}); sys.path += {more!r}"  # ours at the end, for what a peer's environment lacks: torch


def packages() -> list[str]:
    """Where this interpreter's packages are: pytest and torch, for a peer without its own."""
    return [path for path in sys.path if path.endswith("-packages")]


@dataclass(frozen=True)
class Checkout:
    """A checkout of Triton's sources and how its tests are started; `folder` is ours, for what is written.

    `peer` is another interpreter, whose own Triton is tested then. `kernels` says that the tests are those of the library
    of kernels that comes with Triton; they are written for GPUs, as those of `gluon` are, and `cuda_on_cpu` has them run
    without one.
    """

    path: Path
    device: str
    folder: Path
    peer: str | None = None
    kernels: bool = False
    gluon: bool = False

    @property
    def tests(self) -> Path:
        """The folder that the names of tests begin in."""
        return self.path / "python" / ("triton_kernels" if self.kernels else "test")

    def prepare(self) -> None:
        """Make the package `triton`: Tritium or a peer's, with what the tests share from the checkout: it says what is
        skipped."""
        package = self.folder / "path" / "triton"
        package.mkdir(parents=True)
        shared = str(self.path / "python" / "triton" / "_internal_testing.py")
        begin = (PEERS if self.peer else OURS).format(own=str(package.parent), more=packages())
        (package / "__init__.py").write_text(SHIM.format(shared=shared, begin=begin))

    def start(self, files: Iterable[str], events: Path, *more: str, **variables: str) -> subprocess.Popen[bytes]:
        """pytest on files below `tests`; what it prints goes beside its events."""
        tests = self.tests
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "tests.conformance.triton_plugin",
            "--continue-on-collection-errors",
        ]
        options += ["-c", os.devnull, "--rootdir", str(tests), "--confcutdir", str(tests)]
        if (self.kernels or self.gluon) and self.device != "cuda" and self.peer is None:
            options += ["-p", "tests.conformance.cuda_on_cpu"]
        if not self.gluon:
            options += ["--device", "cuda" if self.kernels else self.device]
        command = [self.peer or sys.executable, "-m", "pytest", *options, *more, *(str(tests / name) for name in files)]
        path = [str(self.folder / "path"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        path += packages() if self.peer else []
        environment = os.environ | variables
        environment |= {
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "CONFORMANCE_EVENTS": str(events),
            "TRITIUM_TARGET": self.device,
            **({"CONFORMANCE_TESTS": str(tests / "tests")} if self.kernels else {}),
        } | ({} if self.peer is None else {"CONFORMANCE_PEER": "1"})
        with events.with_suffix(".log").open("ab") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )


def read(path: Path) -> list[dict[str, Any]]:
    """The events of a file; a last line that is not complete yet is left out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def collect(
    checkout: Checkout, files: Sequence[str], k: str, seconds: float
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The tests of `files` as events, and those files that cannot be imported with their errors.

    Raises RuntimeError if pytest gives up without a word about a test.
    """
    events = Path(tempfile.mkstemp(suffix=".jsonl", dir=checkout.folder)[1])
    process = checkout.start(files, events, "--collect-only", "-k", k)
    process.wait(seconds)
    found = read(events)
    tests = [event for event in found if event["event"] == "collected"]
    broken = {event["id"]: event["text"] for event in found if event["event"] == "broken"}
    if not tests and not broken and process.returncode != 5:  # 5: no test matches
        raise RuntimeError(f"pytest collected nothing:\n{events.with_suffix('.log').read_text()[-3000:]}")
    return tests, broken


@dataclass
class Worker:
    """One process at a time for its share of the tests, until each has an outcome."""

    checkout: Checkout
    tests: list[str]
    seconds: float  # that one test may take
    done: dict[str, dict[str, Any]] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    events: Path = Path()
    restarts: int = 0
    seen: float = 0.0  # when the newest event was noticed
    size: int = 0

    def rest(self) -> list[str]:
        return [test for test in self.tests if test not in self.done]

    def begin(self) -> None:
        """Start a process for the tests without an outcome."""
        rest = self.rest()
        self.events = Path(tempfile.mkstemp(suffix=".jsonl", dir=self.checkout.folder)[1])
        chosen = self.events.with_suffix(".txt")
        chosen.write_text("\n".join(rest), encoding="utf-8")
        files = dict.fromkeys(test.split("::")[0] for test in rest)
        self.process = self.checkout.start(files, self.events, CONFORMANCE_SELECTED=str(chosen))
        self.seen, self.size = time.monotonic(), 0

    def poll(self) -> bool:
        """Whether there is still something to do; ends a process that hangs and starts the next one."""
        if self.process is None:
            if not self.tests:
                return False
            self.begin()
            return True
        ended = self.process.poll() is not None
        size = self.events.stat().st_size
        if size != self.size:
            self.seen, self.size = time.monotonic(), size
        limit = self.seconds if size else max(self.seconds, START)  # before the first test stand the imports
        hung = not ended and time.monotonic() - self.seen > limit
        if not (ended or hung):
            return True
        self.stop()
        self.gather("hung" if hung else f"the process ended with {self.process.returncode}")
        if self.rest():
            self.begin()
            return True
        return False

    def stop(self) -> None:
        """End the process and what it started."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()

    def gather(self, how: str) -> None:
        """Take over what the process has done; the test it was at has crashed or hung."""
        before = len(self.done)
        at = self.gather_finished()
        outcome = "hung" if how == "hung" else "crashed"
        log = self.events.with_suffix(".log").read_text(errors="replace")[-3000:]
        reason = f"no end within {self.seconds:g} s" if how == "hung" else how
        if at is not None:
            self.done[at] = {"outcome": outcome, "reason": reason, "detail": log, "seconds": 0.0}
        elif len(self.done) == before:  # not even started: that would go on for ever
            lost = {"outcome": outcome, "reason": f"before any test: {reason}", "detail": log, "seconds": 0.0}
            self.done.update(dict.fromkeys(self.rest(), lost))

    def gather_finished(self) -> str | None:
        """Take over outcomes; the test that has begun and not ended, if any."""
        at = None
        for event in read(self.events):
            if event["event"] == "start":
                at = event["id"]
            elif event["event"] == "end":
                self.done[event.pop("id")] = event
                at = None
        return at
