"""Sessions on this machine's CPU: trees whose frames, counts and metrics can be worked out by hand."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
import tritium.profiler as proton
from tests.profiler.example_profile import double, launch, read
from tritium.profiler import clocks, msgpack
from tritium.profiler import language as pl
from tritium.profiler.metric import transform_tensor_metrics
from tritium.profiler.session import SessionError
from tritium.profiler.values import MetricTypeError
from tritium.runtime.driver import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.support import OptionError, settings
from tritium.support.settings import runtime


def names(node: Any) -> list[str]:
    return [child["frame"]["name"] for child in node["children"]]


def test_tree_has_scopes_with_kernels_and_sums(tmp_path: Path) -> None:
    path = tmp_path / "run"
    session = proton.start(str(path), hook="triton")
    with proton.scope("outer", {"bytes": 100}):
        for _ in range(3):
            launch(8)
        with proton.scope("inner"):
            launch(5)
    proton.deactivate(session)
    launch(8)
    proton.activate(session)
    with proton.scope("other"):
        pass
    proton.finalize()
    root, devices = read(path.with_suffix(".hatchet"))
    assert root["metrics"] == {"bytes": 0, "count": 0, "time (ns)": 0, "flops32": 0.0}  # the inclusive ones
    outer, other = root["children"]
    assert names(root) == ["outer", "other"]
    assert outer["metrics"] == {"bytes": 100}
    assert other["metrics"] == {}
    kernel, inner = outer["children"]
    assert kernel["frame"]["name"] == "double_8"
    assert kernel["metrics"].pop("time (ns)") > 0
    assert kernel["metrics"] == {"count": 3, "device_id": "0", "device_type": "CPU", "flops32": 24.0}
    assert inner["children"][0]["metrics"]["flops32"] == 5
    assert list(devices) == ["CPU"]
    assert not runtime.launch_enter_hook.calls, "a profile that has ended costs launches nothing"
    assert not runtime.launch_exit_hook.calls


def test_kernels_have_their_own_names_without_a_hook() -> None:
    session = proton.start("plain")
    launch()
    root, _ = proton.data.get(session)
    assert names(root) == ["double"]
    assert "flops32" not in root["children"][0]["metrics"]


def test_time_of_a_kernel_excludes_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0]
    clock = SimpleNamespace(perf_counter_ns=lambda: now[0], time_ns=lambda: now[0])
    monkeypatch.setattr(clocks, "time", clock)

    def hook(metadata: Any) -> None:
        now[0] += 1_000_000

    @tritium.jit
    def store(x):
        tl.store(x, 1.0)

    session = proton.start("p")
    runtime.launch_enter_hook.add(hook)
    runtime.launch_exit_hook.add(hook)
    try:
        store[(1,)](np.zeros(1, np.float32))
        proton.data.clear(session)  # hooks that are added to a session are left out from the second launch on
        store[(1,)](np.zeros(1, np.float32))
    finally:
        runtime.launch_enter_hook.remove(hook)
        runtime.launch_exit_hook.remove(hook)
    assert now == [4_000_000]
    [kernel] = proton.data.get(session)[0]["children"]
    assert (kernel["metrics"]["count"], kernel["metrics"]["time (ns)"]) == (1, 0)


def test_emulated_gpu_is_profiled_as_a_cuda_device() -> None:
    driver.set_active(EmulatedCUDADriver(90))
    try:
        session = proton.start("emulated", hook="triton")
        launch()
        root, devices = proton.data.get(session)
        proton.finalize()
    finally:
        driver.reset_active()
    assert root["children"][0]["metrics"]["device_type"] == "CUDA"
    assert devices["CUDA"]["0"]["arch"] == "90"


def test_launch_that_fails_does_not_disturb_later_ones() -> None:
    session = proton.start("p", hook="triton")
    with pytest.raises(tritium.TritiumError):
        double[(1,)](np.ones(64, np.float32), 1, BLOCK=64, stream="none")
    bad = np.ones(64, np.float32)
    bad.flags.writeable = False
    with pytest.raises(tritium.TritiumError, match="read-only"):
        double[(1,)](bad, 2, BLOCK=64)
    launch(3)
    kernels = {c["frame"]["name"]: c["metrics"] for c in proton.data.get(session)[0]["children"]}
    assert kernels["double_3"]["count"] == 1
    assert "count" not in kernels.get("double_2", {})


def test_python_context_has_the_lines_that_launch() -> None:
    session = proton.start("p", context="python")
    launch()
    node = proton.data.get(session)[0]
    path = []
    while node["children"]:
        [node] = node["children"]
        path.append(node["frame"]["name"])
    assert path[-1] == "double"
    assert path[-2].endswith("@launch")
    assert path[-3].endswith("@test_python_context_has_the_lines_that_launch")
    package = str(Path(tritium.__file__).parent)
    assert not [p for p in path if p.startswith(package)], "frames of the package itself"


def test_metrics_are_summed_by_kind() -> None:
    session = proton.start("p")
    for _ in range(2):
        with proton.scope("s", {"a": 1.5, "n (exc)": 2, "width (pty)": 7, "v": [1, 2]}):
            pass
    proton.enter_scope("t")
    proton.exit_scope("t", metrics={"a": 1.0})
    root, _ = proton.data.get(session)
    s, t = root["children"]
    assert s["metrics"] == {"a": 3.0, "n": 4, "width": 7, "v": [2, 4]}
    assert t["metrics"] == {"a": 1.0}
    assert root["metrics"] == {"a": 0.0}  # n, width and v are of their frames alone


def test_scope_with_flops_and_no_kernel_has_the_time_of_the_library_in_it() -> None:
    session = proton.start("p")
    with proton.scope("outer", {"flops": 3.0}):
        with proton.scope("cublas", {"flops16": 2}):
            sum(range(100_000))
        with proton.scope("none", {"rows": 1}):
            pass
    with proton.scope("ours", {"bytes": 1}):
        launch()
    outer, ours = proton.data.get(session)[0]["children"]
    assert names(outer) == ["cublas", "none"]
    cublas, none = outer["children"]
    assert names(cublas) == ["<library>"]
    assert names(none) == []
    assert cublas["children"][0]["metrics"]["count"] == 1
    assert cublas["children"][0]["metrics"]["time (ns)"] > 100_000
    assert names(ours) == ["double"]


@pytest.mark.parametrize("first, second", [(1, 1.0), ([1], [1, 2]), (1.0, [1.0])])
def test_metric_of_another_type_is_refused(first: Any, second: Any) -> None:
    session = proton.start("p")
    with proton.scope("s", {"a": first}):
        pass
    with pytest.raises(MetricTypeError, match="mismatch for valueId 0"), proton.scope("s", {"a": second}):
        pass
    assert proton.context.depth(session) == 0, "the scope that failed is not open"
    with pytest.raises(MetricTypeError, match="value of type str"), proton.scope("s", {"b": "text"}):
        pass


def test_roofline_metrics_have_one_type() -> None:
    values, tensors = transform_tensor_metrics({"flops16": 2, "bytes": np.float32(3.0), "flops": [1, 2], "own": 4})
    assert values == {"flops16": 2.0, "bytes": 3, "flops": [1.0, 2.0], "own": 4}
    assert [type(values[n]) for n in ("flops16", "bytes", "own")] == [float, int, int]
    assert not tensors


def test_cpu_timed_scope_measures_the_host() -> None:
    session = proton.start("p")
    with proton.cpu_timed_scope("outer"), proton.cpu_timed_scope("inner", {"a": 1}):
        sum(range(1000))
    root, _ = proton.data.get(session)
    outer = root["children"][0]["metrics"]["cpu_time (ns)"]
    inner = root["children"][0]["children"][0]["metrics"]
    assert outer >= inner["cpu_time (ns)"] > 0
    assert inner["a"] == 1
    with pytest.raises(ValueError, match="reserved"):
        proton.cpu_timed_scope("s", {"cpu_time": 1})


def test_states_nest_and_metadata_has_a_frame_of_its_own() -> None:
    session = proton.start("p")
    with proton.scope("s"), proton.state("outer"), proton.metadata_state("matmul"):
        launch()
        with proton.state("inner"):
            launch()
    root, _ = proton.data.get(session)
    [s] = root["children"]
    metadata, inner = s["children"]
    assert metadata["frame"]["name"] == "__proton_launch_metadata"
    assert names(metadata) == ["matmul"]
    assert names(metadata["children"][0]) == ["double"]
    assert inner["frame"]["name"] == "inner"


def test_scopes_of_threads_begin_with_those_of_the_main_thread() -> None:
    session = proton.start("p")

    def work(name: str) -> None:
        for _ in range(20):
            with proton.scope(name):
                launch()

    with proton.scope("main"):
        threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    [main] = proton.data.get(session)[0]["children"]
    assert sorted(names(main)) == ["a", "b"]
    assert [c["children"][0]["metrics"]["count"] for c in main["children"]] == [20, 20]


def test_scope_decorator_may_be_recursive() -> None:
    @proton.scope("f")
    def count(n: int) -> int:
        return 0 if n == 0 else 1 + count(n - 1)

    session = proton.start("p")
    assert count(2) == 2
    assert proton.context.depth(session) == 0
    node = proton.data.get(session)[0]
    assert names(node["children"][0]["children"][0]) == ["f"]


def test_sessions_are_independent_and_numbers_are_never_used_again(tmp_path: Path) -> None:
    first = proton.start("a")
    second = proton.start("b", data="trace")
    assert second == first + 1
    assert proton.start("a") == first, "a session of the same name is activated"
    proton.finalize(first)
    assert (tmp_path / "a.hatchet").exists() and not (tmp_path / "b.chrome_trace").exists()
    proton.finalize(first)  # a second time: nothing to do
    proton.finalize()
    assert (tmp_path / "b.chrome_trace").exists()
    assert proton.start("a") == second + 1
    with pytest.raises(SessionError, match="Session has not been initialized: 999"):
        proton.activate(999)


def test_session_does_not_see_scopes_from_before_it() -> None:
    with proton.scope("before the first"):
        first = proton.start("a")
        with proton.scope("s"):
            second = proton.start("b")
            assert (proton.context.depth(first), proton.context.depth(second)) == (1, 0)
            proton.deactivate(first)
            with proton.scope("t"):
                proton.activate(first)
                launch()
    assert proton.context.depth(first) == proton.context.depth(second) == 0
    assert names(proton.data.get(first)[0]["children"][0]) == ["t"]  # entered while inactive
    assert names(proton.data.get(second)[0]) == ["t"]
    with pytest.raises(ValueError, match="Scope name mismatch: x != y"):
        proton.enter_scope("y")
        proton.exit_scope("x")


def test_scopes_that_a_session_does_not_see_whole_are_balanced() -> None:
    first = proton.start("a")
    proton.enter_scope("ended inside")
    proton.finalize(first)
    proton.enter_scope("begun outside")
    second = proton.start("b")
    proton.exit_scope("begun outside", metrics={"a": 1})
    proton.exit_scope("ended inside", metrics={"a": 1})
    assert proton.exit_scope() is None
    with proton.scope("whole"):
        assert proton.context.depth(second) == 1
    assert names(proton.data.get(second)[0]) == ["whole"]


def test_phases_are_read_and_cleared_one_by_one() -> None:
    session = proton.start("p")
    with proton.scope("zero"):
        launch()
    assert proton.data.advance_phase(session) == 1
    with proton.scope("one"):
        launch()
    assert not proton.data.is_phase_complete(session, 0)
    proton.deactivate(session, flushing=True)
    assert proton.data.is_phase_complete(session, 0)
    assert not proton.data.is_phase_complete(session, 1), "the current one may still grow"
    assert [names(proton.data.get(session, n)[0]) for n in (0, 1)] == [["zero"], ["one"]]
    proton.data.clear(session, 1, clear_up_to_phase=True)
    assert names(proton.data.get(session, 1)[0]) == []
    with pytest.raises(SessionError, match="Phase 0 has no data"):
        proton.data.get(session, 0)
    assert proton.data.get(None) is None
    assert not proton.data.is_phase_complete(None)


def test_periodic_flushing_writes_a_file_for_each_phase(tmp_path: Path) -> None:
    session = proton.start("p", mode="periodic_flushing:format=hatchet")
    for phase in range(3):
        with proton.scope(f"s{phase}"):
            launch()
        if phase < 2:
            proton.data.advance_phase(session)
            assert (tmp_path / f"p.part_{phase}.hatchet").exists()
    proton.finalize()
    assert [names(read(tmp_path / f"p.part_{n}.hatchet")[0]) for n in range(3)] == [["s0"], ["s1"], ["s2"]]


def test_profile_decorator_adds_its_calls_up(tmp_path: Path) -> None:
    @proton.profile(name="f", hook="triton")
    def work() -> int:
        launch(3)
        return 7

    assert work() + work() == 14
    launch(3)  # not profiled
    proton.finalize()
    [kernel] = read(tmp_path / "f.hatchet")[0]["children"]
    assert kernel["metrics"]["count"] == 2

    @proton.profile
    def other() -> None:
        launch()

    other()
    proton.finalize()
    assert (tmp_path / f"{proton.DEFAULT_PROFILE_NAME}.hatchet").exists()


def test_disabled_profiler_writes_nothing(tmp_path: Path) -> None:
    with settings.proton.scope():
        settings.proton.disable = True
        assert proton.start("p") is None
        with proton.scope("s"):
            launch()
        assert proton.enter_scope("t") is None and proton.exit_scope() is None
        proton.finalize()
    assert not list(tmp_path.glob("p.*"))
    assert proton.context.depth() is None


@pytest.mark.parametrize(
    "options, message",
    [
        ({"backend": "instrumentation"}, "instrumentation inside of kernels is not supported"),
        ({"backend": "rocprofiler"}, "backend='rocprofiler' is not supported: there is no runtime for AMD GPUs"),
        ({"backend": "nvprof"}, "it can be None, 'cpu', 'cupti'"),
        ({"context": "stack"}, "it can be 'shadow', 'python'"),
        ({"data": "table"}, "it can be 'tree', 'trace'"),
        ({"mode": "pcsampling"}, "need CUPTI"),
        ({"mode": proton.mode.PCSampling(interval=10)}, "mode='pcsampling:interval=10'"),
        ({"mode": proton.mode.Default(granularity="cta")}, "mode='default:"),
        ({"mode": "periodic_flushing:format=chrome_trace"}, "it.* can be format=hatchet or format=hatchet_msgpack"),
        ({"hook": "torch"}, "hook='torch' is not supported"),
        ({"hook": proton.profile.__globals__["InstrumentationHook"]("")}, "instrumentation inside of kernels"),
    ],
)
def test_unsupported_options_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        proton.start("p", **options)
    proton.finalize()
    assert not list(tmp_path.iterdir()), "no session was begun"


def test_format_of_other_data_is_refused_and_ends_no_session(tmp_path: Path) -> None:
    session = proton.start("p")
    with pytest.raises(OptionError, match="it can be 'hatchet' or 'hatchet_msgpack'"):
        proton.finalize(session, "chrome_trace")
    proton.finalize(session, "hatchet_msgpack")
    assert (tmp_path / "p.hatchet_msgpack").exists()


def test_scopes_inside_of_kernels_record_nothing() -> None:
    @tritium.jit
    def scoped(x):
        with pl.scope("load"):
            tl.store(x, 1.0)

    x = np.zeros(1, np.float32)
    scoped[(1,)](x)
    assert x[0] == 1
    with pytest.raises(OptionError, match="instrumentation"):
        pl.enable_semantic("triton")


def _unpacked(data: bytes, at: int = 0) -> tuple[Any, int]:
    """A reader of MessagePack after its specification, for what the writer can write."""
    code = data[at]
    at += 1
    if code < 0x80 or code >= 0xE0:
        return (code if code < 0x80 else code - 256), at
    sizes = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
    if code in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[code], at
    if code == 0xCB:
        return np.frombuffer(data[at : at + 8], ">f8")[0].item(), at + 8
    if 0xCC <= code <= 0xD3:
        width = 1 << (code & 3)
        return int.from_bytes(data[at : at + width], "big", signed=code >= 0xD0), at + width
    if code in sizes:
        size = int.from_bytes(data[at : at + sizes[code]], "big")
        at += sizes[code]
    else:
        size = code & (0x1F if code >= 0xA0 else 0x0F)
    if 0xA0 <= code < 0xC0 or 0xD9 <= code <= 0xDB:
        return data[at : at + size].decode(), at + size
    is_map = code < 0x90 or code >= 0xDE
    items = []
    for _ in range(2 * size if is_map else size):
        item, at = _unpacked(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if is_map else items), at


def test_msgpack_says_what_json_says() -> None:
    session = proton.start("p", hook="triton")
    with proton.scope("s" * 300, {"big": 1 << 40, "negative": -70000, "half": 0.5}):
        launch()
    assert _unpacked(proton.data.get_msgpack(session) or b"")[0] == proton.data.get(session)
    edges = [n + d for e in (5, 7, 8, 15, 16, 31, 32, 63) for n in (1 << e, -(1 << e)) for d in (-1, 0)]
    values = [*edges[:-3], -(1 << 63), "x" * 70000, list(range(70000)), {str(i): None for i in range(17)}, True]
    assert _unpacked(msgpack.packed(values))[0] == values
    assert json.loads(json.dumps(values)) == values


@pytest.mark.torch
def test_tensors_are_metrics() -> None:
    import torch

    values, tensors = transform_tensor_metrics(
        {"bytes": torch.tensor([9.0, 10.0]), "flops": torch.tensor(3), "own": torch.tensor([1, 2])}
    )
    assert values == {"bytes": [9, 10], "flops": 3.0, "own": [1, 2]}
    assert not tensors


@pytest.mark.gpu
@pytest.mark.torch
def test_kernels_of_a_gpu_are_timed_by_events_in_their_streams() -> None:
    import torch

    x = torch.ones(1 << 24, device="cuda")

    @tritium.jit
    def many(x, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at) + 1)

    def run() -> None:
        many[(x.numel() // 1024,)](x, BLOCK=1024)

    run()
    torch.cuda.synchronize()
    session = proton.start("gpu")
    other = proton.start("trace", data="trace")
    flops = torch.full((), 3.0, device="cuda")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream), proton.scope("s", {"flops": flops}):
            for _ in range(10):
                run()
        flops += 1  # after the scope has copied it
        stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), proton.scope("captured"):
        run()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(10):
        run()
    end.record()
    root, devices = proton.data.get(session)
    [kernel] = root["children"][0]["children"]
    measured = kernel["metrics"]["time (ns)"] / 20
    reference = start.elapsed_time(end) * 1e6 / 10
    assert 0.5 * reference < measured < 2 * reference
    assert kernel["metrics"]["count"] == 20
    assert root["children"][0]["metrics"] == {"flops": 7.0}
    assert names(root["children"][1]) == []  # a captured launch does not run
    assert devices["CUDA"]["0"]["num_sms"] > 0
    proton.finalize()
    events = read(Path("trace.chrome_trace"))["traceEvents"]
    assert len({e["tid"] for e in events if e.get("cat") == "kernel"}) == 2
    assert other != session
