"""Timelines in Chrome's trace format: lanes, scopes, kernels and the arrows between them."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tritium.profiler as proton
from tests.profiler.example_profile import launch, read
from tritium.profiler.session import SessionError
from tritium.support import OptionError


def _written(tmp_path: Path) -> Any:
    proton.finalize()
    return read(tmp_path / "p.chrome_trace")


def _of(trace: Any, category: str) -> list[Any]:
    return [e for e in trace["traceEvents"] if e.get("cat") == category]


def test_kernels_lie_in_their_scopes_and_arrows_lead_to_them(tmp_path: Path) -> None:
    proton.start("p", data="trace", hook="triton")
    with proton.scope("outer", {"m": 1.0, "n": 2}), proton.scope("inner"):
        launch(8)
        launch(8)
    launch(3)
    trace = _written(tmp_path)
    [metric], [scope], kernels = _of(trace, "metric"), _of(trace, "scope"), _of(trace, "kernel")
    assert metric["name"] == "outer: <m, 1.000000>, <n, 2>"
    assert metric["args"]["metrics"] == {"m": "1.000000", "n": "2"}
    assert scope["args"]["call_stack"] == ["ROOT", "outer", "inner"]
    assert [k["args"]["call_stack"] for k in kernels] == [["ROOT", "outer", "inner", "double_8"]] * 2 + [
        ["ROOT", "double_3"]
    ]
    assert kernels[0]["args"]["metrics"] == {"flops32": "8.000000"}
    for kernel in kernels[:2]:
        assert metric["ts"] <= scope["ts"] <= kernel["ts"]
        assert kernel["ts"] + kernel["dur"] <= scope["ts"] + scope["dur"] <= metric["ts"] + metric["dur"]
    arrows = _of(trace, "flow")
    assert [a["ph"] for a in arrows] == ["s", "f"] * 2  # the third kernel was launched outside of every scope
    assert {a["tid"] for a in arrows if a["ph"] == "s"} == {scope["tid"]}
    assert [a["ts"] for a in arrows if a["ph"] == "f"] == [k["ts"] for k in kernels[:2]]
    lanes = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert lanes == {scope["tid"]: "CPU Thread 0", kernels[0]["tid"]: "Device 0 Stream 0"}
    assert abs(time.time_ns() - trace["baseTimeNanoseconds"]) < 600e9


def test_scopes_alone_have_no_lanes(tmp_path: Path) -> None:
    proton.start("p", data="trace")
    with proton.scope("only", {"a": [1, 2]}):
        pass
    [event] = _written(tmp_path)["traceEvents"]
    assert (event["name"], event["ph"]) == ("only: <a, [1,2]>", "X")
    assert isinstance(event["args"]["scope_id"], int)


def test_empty_trace_is_a_trace(tmp_path: Path) -> None:
    proton.start("p", data="trace")
    assert _written(tmp_path) == {"displayTimeUnit": "us", "traceEvents": []}


def test_threads_have_lanes_of_their_own(tmp_path: Path) -> None:
    proton.start("p", data="trace")
    together = threading.Barrier(2)

    def work(name: str) -> None:
        with proton.scope(name):
            together.wait()
            launch()

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trace = _written(tmp_path)
    assert len({e["tid"] for e in _of(trace, "scope")}) == 2
    starts = {a["id"]: a["tid"] for a in _of(trace, "flow") if a["ph"] == "s"}
    assert sorted(starts.values()) == sorted(e["tid"] for e in _of(trace, "scope"))


def test_trace_is_written_and_not_read(tmp_path: Path) -> None:
    session = proton.start("p", data="trace", mode="periodic_flushing")
    with pytest.raises(OptionError, match="data='trace' cannot be read"):
        proton.data.get(session)
    with pytest.raises(SessionError):
        proton.data.get(session, 5)
    launch()
    proton.data.advance_phase(session)
    launch()
    proton.finalize()
    for part in range(2):
        assert len(_of(read(tmp_path / f"p.part_{part}.chrome_trace"), "kernel")) == 1
