"""What runs inside the processes of `triton_suite`: a plugin of pytest that selects tests and writes what became of each.

One line of JSON an event, flushed at once, so that the parent knows what a process was at when it crashed or hung:

    {"event": "collected", "id": ..., "function": ..., "marks": [...]}      {"event": "broken", "id": <file>, "text": ...}
    {"event": "start", "id": ...}       {"event": "end", "id": ..., "outcome": ..., "reason": ..., "detail": ..., "seconds": ...}

CONFORMANCE_EVENTS names the file that is written, CONFORMANCE_SELECTED a file of test ids, one a line, in their order;
CONFORMANCE_PEER says that Triton itself is tested; CONFORMANCE_TESTS is the folder of a package `tests` like ours.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import tests

if "CONFORMANCE_TESTS" in os.environ:  # not on PYTHONPATH, where that package would hide this one
    tests.__path__ = [os.environ["CONFORMANCE_TESTS"], *tests.__path__]  # type: ignore[assignment]
    sys.path.append(os.path.dirname(os.environ["CONFORMANCE_TESTS"]))
DETAIL = 6000  # characters of a failure that are kept, from its end
OPTIONS = ("num_warps", "num_stages", "num_ctas")


class Events:
    """Writes events, and says how each test ended from the reports of its three phases."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "a", encoding="utf-8")  # noqa: SIM115  (open as long as the process)
        self.open: dict[str, dict[str, Any]] = {}

    def write(self, **event: Any) -> None:
        print(json.dumps(event), file=self.file, flush=True)

    @pytest.hookimpl(trylast=True)  # behind pytest's own -k
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = os.environ.get("CONFORMANCE_SELECTED")
        if chosen is None:
            for item in items:
                marks = sorted({mark.name for mark in item.iter_markers()})
                self.write(event="collected", id=item.nodeid, function=item.nodeid.split("[")[0], marks=marks)
            return
        with open(chosen, encoding="utf-8") as file:
            order = {name: i for i, name in enumerate(file.read().split("\n"))}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(event="broken", id=report.nodeid, text=str(report.longrepr)[-DETAIL:])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.open[nodeid] = {"outcome": "passed", "reason": "", "detail": "", "seconds": 0.0}
        self.write(event="start", id=nodeid)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        outcome = yield
        if call.excinfo is not None:
            outcome.get_result().texts = texts_of(call.excinfo.value)  # type: ignore[attr-defined]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        row = self.open[report.nodeid]
        row["seconds"] = round(row["seconds"] + report.duration, 3)
        if report.skipped and hasattr(report, "wasxfail"):
            row.update(outcome="xfailed", reason=report.wasxfail)
        elif report.skipped:
            row.update(outcome="skipped", reason=reason_of_skip(report.longrepr))
        elif report.failed and row["outcome"] != "failed":
            row.update(outcome="failed", reason=reason_of_failure(report), detail=report.longreprtext[-DETAIL:])
            row["texts"] = getattr(report, "texts", {})

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.write(event="end", id=nodeid, **self.open.pop(nodeid))


def reason_of_skip(longrepr: Any) -> str:
    """The words after "Skipped:"."""
    text = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return text.removeprefix("Skipped: ")


def reason_of_failure(report: pytest.TestReport) -> str:
    """The exception's lines without the code around them, at most 600 characters."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    return re.sub(r"0x[0-9a-f]{6,}", "0x…", text)[:600]


def texts_of(error: BaseException) -> dict[str, Any]:
    """What a failed test had compiled, by the innermost frame that has any of it: the module that FileCheck reads (both
    compilers call it `module_str` there), or the stages of a kernel with its target and options."""
    found: dict[str, Any] = {}
    place = error.__traceback__
    while place is not None:
        names = dict(place.tb_frame.f_locals)
        if place.tb_frame.f_code.co_name == "assert_expected_inline":  # of expecttest
            found = {stage: str(names[stage]).strip("\n") for stage in ("expect", "actual")}
        if isinstance(names.get("module_str"), str):
            found = {"module": names["module_str"]}
        for value in names.values():
            asm, metadata = getattr(value, "asm", None), getattr(value, "metadata", None)
            if hasattr(asm, "keys") and "ttir" in asm and hasattr(metadata, "target"):
                found = {stage: asm[stage] for stage in ("ttir", "ptx") if stage in asm}
                found["target"] = f"{metadata.target.backend}:{metadata.target.arch}"
                found["options"] = {name: getattr(metadata, name) for name in OPTIONS if hasattr(metadata, name)}
        place = place.tb_next
    return found


class NoDevice:
    """An active driver of Triton's for a machine without a GPU: it says for which chip to compile, and nothing else."""

    def get_current_target(self) -> Any:
        return importlib.import_module("triton.backends.compiler").GPUTarget("cuda", 90, 32)

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"0 active drivers: nobody answers {name}")


def stand_in() -> bool:
    """Let a Triton without a GPU compile; whether it has none."""
    driver = importlib.import_module("triton.runtime").driver
    try:
        driver.active.get_current_target()
        return False
    except RuntimeError:
        driver.set_active(NoDevice())
        return True


class TorchFinder:
    """Lets torch name a GPU as soon as a test file imports it; most of the time of a small suite would be its import.

    Some files ask for the GPU's capability when they are imported, before any of their tests can be skipped.
    """

    def __init__(self, compiles_only: bool) -> None:
        self.compiles_only = compiles_only

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(torch: Any) -> None:
                execute(torch)
                torch.cuda.get_device_capability = lambda device=None: (9, 0) if self.compiles_only else (0, 0)
                if self.compiles_only:
                    torch.cuda.get_device_name = lambda device=None: "none"

            spec.loader.exec_module = exec_module
        return spec


def pytest_configure(config: pytest.Config) -> None:
    compiles_only = "CONFORMANCE_PEER" in os.environ and stand_in()
    if (compiles_only or os.environ["TRITIUM_TARGET"] == "cpu") and importlib.util.find_spec("torch"):
        sys.meta_path.insert(0, TorchFinder(compiles_only))
    config.pluginmanager.register(Events(os.environ["CONFORMANCE_EVENTS"]), "conformance-events")
