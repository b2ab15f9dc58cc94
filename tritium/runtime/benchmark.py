"""Timing functions on the active device: `do_bench` and its relatives, Triton's `triton.testing` of these names."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ..support.lazy import LazyModule
from .driver_config import driver as drivers

__all__ = [
    "cuda_graph_without_gc",
    "do_bench",
    "do_bench_cpu",
    "do_bench_cudagraph",
    "do_bench_cudagraph_proton",
    "do_bench_proton",
]

_torch = LazyModule("torch")

if TYPE_CHECKING:

    class Differentiable(Protocol):
        """A tensor with a gradient."""

        grad: object

    class Event(Protocol):
        """An event of a GPU's stream, such as `torch.cuda.Event`."""

        def record(self) -> None:
            """Record the event in the current stream."""

        def elapsed_time(self, end: Event) -> float:
            """Milliseconds to `end`."""


def _quantile(values: Sequence[float], quantiles: Sequence[float]) -> list[float]:
    """Linear interpolation between the sorted values, for each of `quantiles`; Triton's private name and signature."""
    values = sorted(values)

    def one(q: float) -> float:
        if not 0 <= q <= 1:
            raise ValueError(f"quantiles are between 0 and 1, not {q}")
        at = q * (len(values) - 1)
        low = math.floor(at)
        high = min(low + 1, len(values) - 1)
        return values[low] + (values[high] - values[low]) * (at - low)

    return [one(q) for q in quantiles]


def _summarize_statistics(times: list[float], quantiles: Sequence[float] | None, return_mode: str) -> Any:
    """The `quantiles` of `times`, or the statistic `return_mode`; autotuners of other projects import it."""
    if quantiles is not None:
        found = _quantile(times, quantiles)
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    ways: dict[str, Callable[[list[float]], float]] = {
        "min": min,
        "max": max,
        "mean": lambda t: sum(t) / len(t),
        "median": lambda t: _quantile(t, [0.5])[0],
    }
    return ways[return_mode](times)


def do_bench(
    fn: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Differentiable] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Milliseconds of `fn()`: warmed up for about `warmup` ms, then timed for about `rep` ms (one run at least).

    `grad_to_none` lists tensors whose `.grad` is dropped before each run. The result is a list for several `quantiles`,
    one figure for one; without quantiles what `return_mode` says: min, max, mean, median, or all times in a list.
    Where a GPU's driver is active, times are those of the GPU, and each run finds its level-2 cache cleared; on the CPU
    caches are as `fn` leaves them.
    """
    _check_mode(return_mode)
    driver = drivers.active
    if hasattr(driver.get_device_interface(), "Event"):
        return _summarize_statistics(_times_of_gpu(fn, driver, warmup, rep, grad_to_none or ()), quantiles, return_mode)
    return do_bench_cpu(fn, warmup, rep, grad_to_none, quantiles, return_mode)


def _check_mode(return_mode: str) -> None:
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(f"return_mode is min, max, mean, median or all, not {return_mode!r}")


def _times_of_gpu(
    fn: Callable[[], object], driver: Any, warmup: float, rep: float, grad_to_none: Sequence[Differentiable]
) -> list[float]:
    """Milliseconds of each run, between two events in the GPU's current stream."""
    interface = driver.get_device_interface()
    cache = driver.get_empty_cache_for_benchmark()

    def events(count: int) -> list[Event]:
        return [interface.Event(enable_timing=True) for _ in range(count)]

    fn()
    interface.synchronize()
    start, end = events(2)
    start.record()
    for _ in range(5):
        driver.clear_cache(cache)
        fn()
    end.record()
    interface.synchronize()
    once = max(start.elapsed_time(end) / 5, 1e-3)
    for _ in range(max(1, int(warmup / once))):
        fn()
    runs = max(1, int(rep / once))
    starts, ends = events(runs), events(runs)
    for first, last in zip(starts, ends):
        for x in grad_to_none:
            x.grad = None
        driver.clear_cache(cache)
        first.record()
        fn()
        last.record()
    interface.synchronize()
    return [first.elapsed_time(last) for first, last in zip(starts, ends)]


def do_bench_cpu(
    fn: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Differentiable] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """`do_bench` by the clock of the CPU, for functions that return when their work is done."""
    _check_mode(return_mode)
    fn()
    start = time.perf_counter()
    for _ in range(5):
        fn()
    once = max((time.perf_counter() - start) / 5 * 1e3, 1e-6)
    for _ in range(max(1, int(warmup / once))):
        fn()
    times = []
    for _ in range(max(1, int(rep / once))):
        for x in grad_to_none or ():
            x.grad = None
        start = time.perf_counter()
        fn()
        times.append((time.perf_counter() - start) * 1e3)
    return _summarize_statistics(times, quantiles, return_mode)


def do_bench_cudagraph(
    fn: Callable[[], object],
    rep: float = 20,
    grad_to_none: Sequence[Differentiable] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """`do_bench` of a CUDA graph of several runs, so that launches cost nothing; without a GPU, `do_bench`."""
    driver = drivers.active
    cuda = getattr(_torch, "cuda", None) if hasattr(driver.get_device_interface(), "Event") else None
    if cuda is None or driver.get_device_interface() is not cuda:
        return do_bench(fn, rep / 4, rep, grad_to_none, quantiles, return_mode)
    _check_mode(return_mode)
    return _summarize_statistics(_times_of_graph(fn, cuda, rep, grad_to_none or ()), quantiles, return_mode)


def do_bench_proton(fn: Callable[[], object], *args: Any, **kwargs: Any) -> Any:
    """As `do_bench`, whose times are those of events around the calls, which is what our profiler reads too."""
    return do_bench(fn, *args, **kwargs)


def do_bench_cudagraph_proton(fn: Callable[[], object], *args: Any, **kwargs: Any) -> Any:
    """As `do_bench_cudagraph`."""
    return do_bench_cudagraph(fn, *args, **kwargs)


@contextmanager
def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> Iterator[Any]:
    """`torch.cuda.graph(*args, **kwargs)` with Python's garbage collector off, which could unload a kernel while the
    stream is captured; that is an error and ends the capture."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with _torch.cuda.graph(*args, **kwargs) as graph:
            yield graph
    finally:
        if was_on:
            gc.enable()


def _times_of_graph(
    fn: Callable[[], object], cuda: Any, rep: float, grad_to_none: Sequence[Differentiable]
) -> list[float]:
    """Milliseconds of a run, from ten replays of a graph with enough runs for `rep` ms."""
    with cuda.stream(cuda.Stream()):
        fn()
        start, end = (cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(5):
            fn()
        end.record()
        cuda.synchronize()
        runs = max(1, int(rep / max(start.elapsed_time(end) / 5, 1e-3)))
        graph = cuda.CUDAGraph()
        with cuda_graph_without_gc(graph):
            for _ in range(runs):
                for x in grad_to_none:
                    x.grad = None
                fn()
        cuda.synchronize()
        times = []
        for _ in range(10):
            start.record()
            graph.replay()
            end.record()
            cuda.synchronize()
            times.append(start.elapsed_time(end) / runs)
    return times
