"""Quick launches on a GPU: streams, graphs, threads, devices, tensors that change, processes that fork."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tritium.runtime.jit import JITFunction

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

TIMES = 4  # the third launch of a kind takes the fast path


@pytest.fixture
def device():
    """The real one only."""
    return "cuda"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each launch that went through Python."""
    seen: list[int] = []
    launch = JITFunction._launch_any
    monkeypatch.setattr(JITFunction, "_launch_any", lambda *args: seen.append(1) or launch(*args))
    return seen


@tritium.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr = 256):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * factor, mask=at < n)


@tritium.jit
def bump(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


@tritium.jit
def spin(x_ptr, turns):
    total = tl.load(x_ptr)
    for _ in range(turns):
        total = total * 1.000001 + 1.0
    tl.store(x_ptr, total)


def launch(x: Any, out: Any, factor: Any = 3, **how: Any) -> Any:
    n = x.numel()
    return scale[(tritium.cdiv(n, 256),)](x, out, n, factor, **how)


def test_each_kind_of_tensor(slow: list[int]) -> None:
    import torch

    kinds = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int32, torch.int64]
    tensors = [(torch.rand(1001, device="cuda") * 30).to(dtype) for dtype in kinds]
    tensors += [t[1:] for t in tensors] + [torch.nn.Parameter(torch.rand(777, device="cuda"))]
    for _ in range(TIMES):
        for x in tensors:
            out = torch.zeros_like(x)
            launch(x, out)
            torch.testing.assert_close(out, (x * 3).to(x.dtype))
    before = len(slow)
    for x in tensors[:3]:
        for _ in range(TIMES):
            launch(x, torch.zeros_like(x))
    assert len(slow) - before <= 3, "launches of known kinds go through Python"


def test_tensors_that_were_freed_resized_and_replaced(slow: list[int]) -> None:
    import torch

    x = torch.rand(1 << 16, device="cuda")
    for size in (1 << 16, 1 << 20, 100, 1 << 18):
        out = torch.empty(0, device="cuda").resize_(size)
        x.resize_(size).uniform_()
        for _ in range(3):
            launch(x, out)
        assert torch.equal(out, x * 3)
        out.set_(torch.zeros(size, device="cuda"))
        launch(x, out)
        assert torch.equal(out, x * 3)
        x.data = torch.rand(size, device="cuda")
        launch(x, out)
        assert torch.equal(out, x * 3)


def test_streams_by_turns_and_by_name(slow: list[int]) -> None:
    import torch

    x, streams = torch.zeros(4096, device="cuda"), [torch.cuda.Stream() for _ in range(4)]
    outs = [torch.zeros(4096, device="cuda") for _ in streams]
    torch.cuda.synchronize()
    for turn in range(10):
        for stream, out in zip(streams, outs):
            with torch.cuda.stream(stream):
                torch.cuda._sleep(100_000)
                out.fill_(turn)
                bump[(16,)](out, 4096, BLOCK=256)  # behind the sleep and the fill of its stream
    torch.cuda.synchronize()
    assert all(bool((out == 10).all()) for out in outs)
    for given in (streams[0], streams[0].cuda_stream):
        for turn in range(6):
            with torch.cuda.stream(streams[0]):
                torch.cuda._sleep(1_000_000)
                outs[0].fill_(turn)
            bump[(16,)](outs[0], 4096, BLOCK=256, stream=given)  # the current stream is another
            streams[0].synchronize()
            assert bool((outs[0] == turn + 1).all())
    del x


def test_graphs_capture_fast_path_launches(slow: list[int]) -> None:
    import torch

    x, out = torch.rand(4096, device="cuda"), torch.zeros(4096, device="cuda")
    for _ in range(TIMES):
        launch(x, out)
    before, graph = len(slow), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch(x, out)
        bump[(16,)](out, 4096, BLOCK=256)
        launch(out, x)
    assert len(slow) - before <= 1  # the kernel not launched before
    x.fill_(1)
    for turn in range(3):
        expected = (x * 3 + 1) * 3
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(x, expected), turn


def test_threads_with_streams_of_their_own(slow: list[int]) -> None:
    import torch

    wrong: list[int] = []

    def work(number: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            x, out = torch.full((4096,), float(number), device="cuda"), torch.zeros(4096, device="cuda")
            for turn in range(300):
                launch(x, out, turn + 2 if turn % 3 else float(turn))
                if turn % 50 == 49:
                    factor = turn + 2 if turn % 3 else float(turn)
                    wrong.extend([turn] * (not torch.equal(out, x * factor)))

    threads = [threading.Thread(target=work, args=(i + 1,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_a_full_queue_lets_other_threads_run() -> None:
    import torch

    x, counted, stop = torch.zeros(1, device="cuda"), [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1

    other = threading.Thread(target=count)
    spin[(1,)](x, 1000)
    other.start()
    for _ in range(3000):  # more than the driver's queue holds: the driver waits
        spin[(1,)](x, 20000)
    stop.set()
    other.join()
    torch.cuda.synchronize()
    assert counted[0] > 1000


def test_programs_without_arrays_follow_the_current_device() -> None:
    import torch

    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU only")

    @tritium.jit
    def alone(n):
        tl.device_print("n", n)

    for _ in range(TIMES):
        for device in (0, 1):
            with torch.cuda.device(device):
                alone[(1,)](17)
                assert torch.cuda.current_device() == device
    assert sorted(alone.device_caches) == [0, 1]


def test_a_failed_launch_and_those_after_it() -> None:
    import torch

    x, out = torch.rand(1000, device="cuda"), torch.zeros(1000, device="cuda")
    for _ in range(TIMES):
        with pytest.raises(tritium.TritiumError, match=r"scale: the grid \(1, 65536, 1\) is too large"):
            scale[(1, 65536)](x, out, 1000, 3)
        launch(x, out)
    assert torch.equal(out, x * 3)


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[2]
    path = folder / "program.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(root)!r})\n{KERNEL}{program}")
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)


KERNEL = """
import os
import tritium
import tritium.language as tl


@tritium.jit
def bump(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) + 1)


def in_child(work):
    child = os.fork()
    if not child:
        try:
            work()
        except Exception as error:
            print(type(error).__name__, error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_a_fork_with_a_gpu_in_use_is_a_clear_error(tmp_path: Path) -> None:
    done = run(
        """
import torch
x = torch.zeros(1, device="cuda")
for _ in range(4):
    bump[(1,)](x)
torch.cuda.synchronize()
in_child(lambda: bump[(1,)](x))
bump[(1,)](x)
print(x.item())
""",
        tmp_path,
    )
    assert "CUDA does not survive a fork" in done.stdout, done.stdout + done.stderr
    assert done.stdout.split()[-1] == "5.0", done.stdout + done.stderr


def test_a_child_may_use_the_gpu_that_its_parent_did_not(tmp_path: Path) -> None:
    done = run(
        """
import numpy, torch
host = numpy.zeros(1, numpy.float32)
for _ in range(4):
    bump[(1,)](host)  # on the CPU


def work():
    x = torch.zeros(1, device="cuda")
    for _ in range(4):
        bump[(1,)](x)
        bump[(1,)](host)
    print(x.item(), host[0])


in_child(work)
""",
        tmp_path,
    )
    assert done.stdout.split() == ["4.0", "8.0"], done.stdout + done.stderr
