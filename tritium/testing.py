"""Timing kernels, comparing results, and tables of benchmarks: Triton's `triton.testing`, for CPUs and GPUs."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from .compiler import default_target
from .runtime.benchmark import (  # noqa: F401 (the private names: autotuners of other projects import them)
    _quantile,
    _summarize_statistics,
    cuda_graph_without_gc,
    do_bench,
    do_bench_cpu,
    do_bench_cudagraph,
    do_bench_cudagraph_proton,
    do_bench_proton,
)
from .runtime.driver_config import driver as drivers
from .support.lazy import LazyModule

__all__ = [
    "Benchmark",
    "Mark",
    "assert_close",
    "cublas",
    "cuda_graph_without_gc",
    "cuda_memcheck",
    "do_bench",
    "do_bench_cpu",
    "do_bench_cudagraph",
    "do_bench_cudagraph_proton",
    "do_bench_proton",
    "get_dram_gbps",
    "get_max_simd_tflops",
    "get_max_tensorcore_tflops",
    "nvsmi",
    "perf_report",
    "set_gpu_clock",
]

_cublas = LazyModule(".backends.nvidia.cublas", __package__)
_torch = LazyModule("torch")
_numpy = LazyModule("numpy")
_pandas = LazyModule("pandas")
_pyplot = LazyModule("matplotlib.pyplot")


def cublas() -> Any:
    """cuBLASLt for the current GPU, with 32 MiB of workspace; made once for each."""
    return _cublas_of(_torch.cuda.current_device())


@functools.cache
def _cublas_of(device: int) -> Any:
    workspace = _torch.empty(32 << 20, device=f"cuda:{device}", dtype=_torch.uint8)
    return _cublas.CublasLt(workspace)


def _as_numpy(value: Any) -> Any:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if value.dtype.is_floating_point:
            value = value.double()  # NumPy has no bfloat16
        return value.numpy()
    return _numpy.asarray(value)


def assert_close(x: Any, y: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = "") -> None:
    """AssertionError unless |x - y| <= atol + rtol * |y| everywhere; NaNs are equal. Tensors, arrays or numbers.

    The defaults are 1e-2 and 0, as in Triton.
    """
    x, y = _as_numpy(x), _as_numpy(y)
    atol, rtol = 1e-2 if atol is None else float(atol), 0.0 if rtol is None else float(rtol)
    if x.size <= 1 and y.size <= 1 and x.size == y.size:
        x, y = x.reshape(()), y.reshape(())
    _numpy.testing.assert_allclose(x, y, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)


class Benchmark:
    """The definition of a benchmark: `x_names` take the values `x_vals` along the table's rows, `line_arg` those of
    `line_vals` along its columns (called `line_names`); `args` are passed to every run.
    """

    def __init__(
        self,
        x_names: Sequence[str],
        x_vals: Sequence[Any],
        line_arg: str,
        line_vals: Sequence[Any],
        line_names: Sequence[str],
        plot_name: str,
        args: dict[str, Any],
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        styles: Sequence[tuple[str, str]] | None = None,
    ) -> None:
        self.x_names = list(x_names)
        self.x_vals = list(x_vals)
        self.line_arg = line_arg
        self.line_vals = list(line_vals)
        self.line_names = list(line_names)
        self.plot_name = plot_name
        self.args = args
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.x_log = x_log
        self.y_log = y_log
        self.styles = styles

    def points(self) -> Iterator[dict[str, Any]]:
        """The arguments of each row."""
        for x in self.x_vals:
            values = x if isinstance(x, (list, tuple)) else [x] * len(self.x_names)
            if len(values) != len(self.x_names):
                raise ValueError(f"{self.plot_name}: {len(self.x_names)} names, but the values {values}")
            yield dict(zip(self.x_names, values))


class Mark:
    """A function with the benchmarks to run it under; `run()` prints their tables."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | Sequence[Benchmark]) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Measure everything. With `save_path`, a table (`.csv`) and, if matplotlib is installed, a plot are written
        there. `return_df` returns pandas frames (one for one benchmark, else a list)."""
        several = not isinstance(self.benchmarks, Benchmark)
        benches: Sequence[Benchmark] = self.benchmarks if several else [self.benchmarks]  # type: ignore[assignment, list-item]
        frames = []
        for bench in benches:
            rows = self._measure(bench, **kwargs)
            columns = [*bench.x_names, *(f"{n} ({bench.ylabel})" if bench.ylabel else n for n in bench.line_names)]
            if print_data:
                print(f"{bench.plot_name}:\n{_table(columns, rows)}")
            if save_path:
                _save(bench, columns, rows, save_path)
            if show_plots:
                _plot(bench, rows).show()
            frames.append((columns, rows))
        if not return_df:
            return None
        made = [_pandas.DataFrame(rows, columns=columns) for columns, rows in frames]
        return made if several else made[0]

    def _measure(self, bench: Benchmark, **kwargs: Any) -> list[list[Any]]:
        rows = []
        for point in bench.points():
            row: list[Any] = list(point.values())
            for value in bench.line_vals:
                result = self.fn(**point, **{bench.line_arg: value}, **bench.args, **kwargs)
                row.append(result[0] if isinstance(result, (tuple, list)) else result)
            rows.append(row)
        return rows


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = [list(columns)] + [[f"{v:.6g}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in cells)


def _save(bench: Benchmark, columns: Sequence[str], rows: Sequence[Sequence[Any]], folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{bench.plot_name}.csv"), "w") as f:
        for row in [columns, *rows]:
            f.write(",".join(map(str, row)) + "\n")
    with suppress(ImportError):  # no plot without matplotlib
        _plot(bench, rows).savefig(os.path.join(folder, f"{bench.plot_name}.png"))


def _plot(bench: Benchmark, rows: Sequence[Sequence[Any]]) -> Any:
    _pyplot.figure()
    axes = _pyplot.subplot()
    for i, name in enumerate(bench.line_names):
        color, style = bench.styles[i] if bench.styles else (None, None)
        y = [row[len(bench.x_names) + i] for row in rows]
        axes.plot([row[0] for row in rows], y, label=name, color=color, ls=style)
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    return _pyplot


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[Callable[..., object]], Mark]:
    """Decorator: measure a function under these benchmarks (`.run(print_data=True)`)."""

    def decorate(fn: Callable[..., object]) -> Mark:
        mark = Mark(fn, benchmarks)
        like_function: Any = mark  # with the name and the docstring of the function
        functools.update_wrapper(like_function, fn, updated=())
        return mark

    return decorate


# ---- what the machine could do --------------------------------------------------------------------------------------


def get_dram_gbps(device: Any = None) -> float:
    """Gigabytes a second of the GPU's memory by its clock, or of copies by one core (measured over 64 MiB)."""
    driver = drivers.active
    if hasattr(driver.get_device_interface(), "Event"):
        properties = driver.utils.get_device_properties(driver.get_current_device() if device is None else device)
        return properties["mem_clock_rate"] * properties["mem_bus_width"] * 2 / 8e6  # kHz and bits, twice a cycle
    return _copied_gbps()


@functools.lru_cache(maxsize=1)
def _copied_gbps() -> float:
    source, target = bytes(32 << 20), bytearray(32 << 20)
    best = min(_seconds_of_copy(source, target) for _ in range(5))
    return 2 * len(source) / best / 1e9


def _seconds_of_copy(source: bytes, target: bytearray) -> float:
    start = time.perf_counter()
    target[:] = source
    return time.perf_counter() - start


def get_max_simd_tflops(dtype: Any = None, clock_rate: float | None = None, device: Any = None) -> float:
    """The f32 peak of all cores: two fused multiply-adds a cycle at `clock_rate` (kHz; by default from
    /proc/cpuinfo)."""
    return default_target().lanes(32) * 4 * (os.cpu_count() or 1) * (clock_rate or _clock_khz()) * 1e-9


def get_max_tensorcore_tflops(dtype: Any = None, clock_rate: float | None = None, device: Any = None) -> float:
    """The same value: dots are fused multiply-adds on CPUs."""
    return get_max_simd_tflops(dtype, clock_rate, device)


def _clock_khz() -> float:
    try:
        with open("/proc/cpuinfo") as f:
            return max(float(line.split(":")[1]) * 1e3 for line in f if line.startswith("cpu MHz"))
    except (OSError, ValueError):
        return 2.5e6


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """Zeros: no GPU is queried."""
    return [0] * len(attrs)


def cuda_memcheck(**target_kwargs: Any) -> Callable[[Any], Any]:
    """Decorator that does nothing: use the option `sanitize` of a launch."""
    return lambda fn: fn


@contextmanager
def set_gpu_clock(ref_sm_clock: int = 1350, ref_mem_clock: int = 1215) -> Iterator[tuple[float, float]]:
    """There is no GPU clock; the two figures Triton would give."""
    yield 0.0, 0.0
