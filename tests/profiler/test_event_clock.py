"""Kernels of CUDA GPUs: which events are recorded where, on a driver whose streams have clocks of their own."""

from __future__ import annotations

import ctypes
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
import tritium.profiler as proton
from tests.backends.nvidia.fake_cuda import CONTEXT, FakeCuda, driver_in_use
from tests.profiler.example_profile import read
from tritium.backends.nvidia.toolchain import find_tool
from tritium.profiler import clocks, timing
from tritium.runtime.driver import driver

pytestmark = pytest.mark.skipif(find_tool("ptxas") is None, reason="kernels are compiled to CUBIN: there is no ptxas")

BASE, SIDE_STREAM, CAPTURING = 0x7F0000000000, 0x77, 0x99
KERNEL_NS = {0: 5000, SIDE_STREAM: 20000}  # by stream


class TimedCuda(FakeCuda):
    """A driver with a clock for each stream, which kernels advance, and events that keep its time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.now: dict[int, int] = defaultdict(int)
        self.events: list[int] = [0]
        self.recorded: list[tuple[int, int]] = []  # (stream, context)

    def do_create_event(self, to: int, flags: int) -> None:
        self.events.append(0)
        ctypes.c_void_p.from_address(to).value = len(self.events) - 1

    def do_record_event(self, event: int, stream: int | None) -> int:
        if stream == CAPTURING:
            return 1
        self.recorded.append((stream or 0, self.stack[-1]))
        self.events[event] = self.now[stream or 0]
        return 0

    def do_event_time(self, to: int, start: int, end: int) -> None:
        ctypes.c_float.from_address(to).value = (self.events[end] - self.events[start]) / 1e6

    def do_stream_capturing(self, stream: int | None, to: int) -> int:
        if not stream:
            return 906  # CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, while a stream captures
        ctypes.c_int.from_address(to).value = int(stream == CAPTURING)
        return 0

    def do_launch(self, *args: Any) -> None:
        super().do_launch(*args)
        self.now[self.launches[-1].stream] += KERNEL_NS.get(self.launches[-1].stream, 0)


class Array:
    """An array in the memory of a GPU."""

    dtype, shape = "float32", (64,)

    def __init__(self, gpu: int = 0) -> None:
        self.gpu = gpu
        self.device = f"cuda:{gpu}"

    def data_ptr(self) -> int:
        return BASE * (self.gpu + 1)


@tritium.jit
def store(x):
    tl.store(x, 1.0)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[TimedCuda]:
    monkeypatch.setattr(clocks, "_clocks", {})
    memory = {range(BASE, BASE + 4096): 0, range(2 * BASE, 2 * BASE + 4096): 1}
    with driver_in_use(TimedCuda(gpus=2, memory=memory)) as found:
        driver.reset_active()
        yield found
        proton.finalize()
        clocks._clocks.clear()
    driver.reset_active()


def test_kernel_time_is_that_of_the_stream_of_the_launch(fake: TimedCuda) -> None:
    session = proton.start("p")
    with proton.scope("s"):
        for _ in range(3):
            compiled = store[(1,)](Array())
    with proton.scope("side"):
        store[(1,)](Array(), stream=SIDE_STREAM)
        compiled[(1,)](Array(), stream=SIDE_STREAM)
    root, devices = proton.data.get(session)
    s, side = (scope["children"][0]["metrics"] for scope in root["children"])
    assert s == {"count": 3, "device_id": "0", "device_type": "CUDA", "time (ns)": 15000}
    assert (side["count"], side["time (ns)"]) == (2, 40000)
    h100 = {"arch": "90", "bus_width": 5120, "clock_rate": 1980000, "memory_clock_rate": 3201000, "num_sms": 132}
    assert devices == {"CUDA": {"0": h100}}


def test_events_are_recorded_on_the_device_of_the_arrays(fake: TimedCuda) -> None:
    session = proton.start("p")
    store[(1,)](Array(1))
    assert {context for _, context in fake.recorded} == {CONTEXT + 1}
    [kernel] = proton.data.get(session)[0]["children"]
    assert (kernel["metrics"]["device_id"], kernel["metrics"]["time (ns)"]) == ("1", 5000)


def test_launch_that_a_graph_captures_is_not_recorded(fake: TimedCuda) -> None:
    session = proton.start("p", hook="triton")
    store[(1,)](Array(), stream=CAPTURING)
    assert not fake.recorded
    store[(1,)](Array())
    [kernel] = proton.data.get(session)[0]["children"]
    assert kernel["metrics"]["count"] == 1


def test_scope_of_a_library_is_timed_in_the_current_stream(fake: TimedCuda) -> None:
    session = proton.start("p")
    with proton.scope("cublas", {"flops": 1e9}):
        fake.now[0] += 123_000  # launched by others
    with proton.scope("ours", {"flops": 1e9}):
        store[(1,)](Array())
    cublas, ours = proton.data.get(session)[0]["children"]
    assert [c["frame"]["name"] for c in cublas["children"]] == ["<library>"]
    assert cublas["children"][0]["metrics"]["time (ns)"] == 123_000
    assert [c["frame"]["name"] for c in ours["children"]] == ["store"]


def test_events_are_used_again_and_the_device_is_waited_for_now_and_then(
    fake: TimedCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "_MOST_PENDING", 8)
    session = proton.start("p")
    for _ in range(40):
        store[(1,)](Array())
    assert len(fake.events) < 24  # two for each of eight launches, and those that times are measured from
    assert fake.calls.count("cuCtxSynchronize") < 20
    [kernel] = proton.data.get(session)[0]["children"]
    assert kernel["metrics"]["time (ns)"] == 40 * 5000


def test_times_in_a_trace_are_the_hosts(fake: TimedCuda, tmp_path: Path) -> None:
    proton.start("p", data="trace")
    fake.now[0] = 7_000_000_000  # of the device's clock
    before = time.time_ns()
    store[(1,)](Array())
    store[(1,)](Array(), stream=SIDE_STREAM)
    proton.finalize()
    trace = read(tmp_path / "p.chrome_trace")
    first, other = (e for e in trace["traceEvents"] if e.get("cat") == "kernel")
    assert abs(trace["baseTimeNanoseconds"] - before) < 60e9
    assert {first["dur"], other["dur"]} == {5.0, 20.0}
    assert first["tid"] != other["tid"]
