"""Launches with arrays of a GPU as programs have them: torch, CuPy, JAX, streams, graphs, events."""

from __future__ import annotations

import pytest

import tritium
import tritium.language as tl
from tritium.runtime import ArgumentError, TensorDescriptor
from tritium.runtime.cuda import CUDAInterface, Event

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


@pytest.fixture
def device():
    """The real one only."""
    return "cuda"


@tritium.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x + x, mask=at < n)


def launch(x, out, n: int = 1000):
    return double[(tritium.cdiv(n, 256),)](x, out, n, BLOCK=256)


def test_tensors_of_torch() -> None:
    import torch

    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int64, torch.uint8):
        x = (torch.rand(1001, device="cuda") * 50).to(dtype)
        for start in (0, 1):  # aligned and not
            out = torch.zeros_like(x)
            for _ in range(3):  # the later ones take the fast path
                launch(x[start:], out[start:])
            assert torch.equal(out[start : start + 1000], x[start : start + 1000] * 2)


def test_arrays_of_cupy_and_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    cupy = pytest.importorskip("cupy")
    x, out = cupy.arange(1000, dtype=cupy.float32), cupy.zeros(1000, cupy.float32)
    for _ in range(3):
        launch(x, out)
    assert bool((out == 2 * x).all())
    jax = pytest.importorskip("jax")
    a, b = jax.numpy.arange(1000, dtype=jax.numpy.bfloat16), jax.numpy.zeros(1000, jax.numpy.bfloat16)
    b.block_until_ready()
    launch(a, b)
    CUDAInterface().synchronize()
    assert bool((b == 2 * a).all())


def test_the_current_stream_and_graphs() -> None:
    import torch

    x, out = torch.rand(1000, device="cuda"), torch.zeros(1000, device="cuda")
    launch(x, out)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        x.add_(1)
        launch(x, out)  # behind the sleep and the sum, or it would see the old values
    stream.synchronize()
    assert torch.equal(out, 2 * x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch(x, out)
    x.mul_(3)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, 2 * x)


def test_mixed_devices_and_locked_pages() -> None:
    import torch

    x, out = torch.rand(1000, device="cuda"), torch.zeros(1000)
    with pytest.raises(
        ArgumentError, match="argument 'out_ptr' is in the CPU's memory, but 'x_ptr' is in the memory of CUDA"
    ):
        launch(x, out)
    pinned = out.pin_memory()
    launch(x, pinned)
    torch.cuda.synchronize()
    assert torch.equal(pinned, 2 * x.cpu())


@tritium.jit
def rows(desc, out_ptr):
    at = tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :]
    tl.store(out_ptr + at, desc.load([2, 5]))


def test_descriptors_and_tuples() -> None:
    import torch

    x = torch.rand(9, 36, device="cuda")
    out = torch.full((8, 32), float("nan"), device="cuda")
    rows[(1,)](TensorDescriptor.from_tensor(x, [8, 32]), out)
    expected = torch.zeros(8, 32, device="cuda")
    expected[:7, :31] = x[2:, 5:]
    assert torch.equal(out, expected)


def test_large_shared_memory_and_many_warps() -> None:
    import torch

    x = torch.randint(0, 1 << 30, (1, 32768), device="cuda", dtype=torch.int32)
    out = torch.zeros_like(x)
    kernel = flip[(1,)](x, out, BLOCK=32768, num_warps=16)
    assert torch.equal(out, x.flip(1))
    assert kernel.metadata.shared > 48 << 10, "this test is for kernels that must ask for shared memory"


@tritium.jit
def flip(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.gather(x, BLOCK - 1 - at, axis=0))


def test_events_and_benchmarks() -> None:
    import torch

    x, out = torch.rand(1 << 24, device="cuda"), torch.empty(1 << 24, device="cuda")
    start, end = Event(enable_timing=True), Event(enable_timing=True)
    start.record()
    launch(x, out, 1 << 24)
    end.record()
    end.synchronize()
    assert 0.01 < start.elapsed_time(end) < 100
    for bench in (tritium.testing.do_bench, tritium.testing.do_bench_cudagraph):
        assert 0.02 < bench(lambda: launch(x, out, 1 << 24)) < 1  # 128 MiB at some TB/s


def test_what_the_driver_says() -> None:
    import torch

    active = tritium.runtime.driver.active
    assert active.get_current_target().backend == "cuda"
    properties = active.utils.get_device_properties(active.get_current_device())
    assert properties["multiprocessor_count"] == torch.cuda.get_device_properties(0).multi_processor_count
    assert properties["warpSize"] == 32 and properties["max_shared_mem"] >= 48 << 10
    assert active.get_active_torch_device() == torch.device("cuda", 0)
    x = torch.rand(1000, device="cuda")
    kernel = launch(x, torch.empty_like(x))
    module, function, registers, spills, threads = active.utils.load_binary(
        kernel.name, kernel.asm["cubin"], kernel.metadata.shared, 0
    )
    assert module and function and (registers, spills) == (kernel.n_regs, 0) and threads >= 128


def test_two_gpus() -> None:
    import torch

    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU only")
    arrays = [(torch.rand(1000, device=f"cuda:{i}"), torch.zeros(1000, device=f"cuda:{i}")) for i in (0, 1)]
    for current in (0, 1):
        with torch.cuda.device(current):
            for _ in range(3):  # the later ones take the fast path
                for x, out in arrays:
                    x.add_(1)
                    launch(x, out)
            assert torch.cuda.current_device() == current
    for x, out in arrays:
        assert torch.equal(out, 2 * x)
    with pytest.raises(
        ArgumentError, match="'out_ptr' is in the memory of CUDA device 1, but 'x_ptr' is in .* device 0"
    ):
        launch(arrays[0][0], arrays[1][1])
