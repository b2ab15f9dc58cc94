"""The kernels of examples/cuda on a GPU: nvcc's machine code, Tritium's, and torch's functions.

Used by `python benchmarks/cuda_cpp.py --gpu`. Each result is compared with torch's first. Then the three run by turns,
each time after a memset that is larger than the L2 cache, between two CUDA events; the median counts. nvcc's kernels
are loaded from cubins through libcuda and launched on torch's stream.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import cuda_cpp_kernels as ours
import torch

import tritium
from examples.vector_add import add_kernel

ROOT = Path(__file__).resolve().parent.parent
REPETITIONS = 50
L2_BYTES = 256 << 20


class Cubin:
    """A kernel of a cubin in torch's context."""

    def __init__(self, path: Path, name: str, threads: int) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), path.read_bytes())
        self._call("cuModuleGetFunction", ctypes.byref(self._function), module, name.encode())
        self._threads = threads

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._driver, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} failed with status {status}")

    def launch(self, grid: tuple[int, int], *arguments: torch.Tensor | int) -> None:
        """Launch with tensors and 32-bit integers on the current stream."""
        cells = [ctypes.c_int(a) if isinstance(a, int) else ctypes.c_void_p(a.data_ptr()) for a in arguments]
        pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(cell) for cell in cells))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        sizes = (grid[0], grid[1], 1, self._threads, 1, 1, 0)
        self._call("cuLaunchKernel", self._function, *sizes, stream, pointers, None)


class Case(NamedTuple):
    """A kernel with its data: bytes or floating-point operations, the three ways to run it, and their outputs."""

    name: str
    shape: str
    work: float
    unit: str
    run: dict[str, Callable[[], object]]
    outputs: dict[str, torch.Tensor]
    tolerance: float


def compile_cuda(name: str, folder: Path) -> Cubin:
    """nvcc's cubin of a file in examples/cuda."""
    path = folder / f"{name}.cubin"
    source = ROOT / "examples" / "cuda" / f"{name}.cu"
    subprocess.run(["nvcc", "-arch=sm_90a", "-O3", "-cubin", str(source), "-o", str(path)], check=True)
    return Cubin(path, name, 256)


def _outputs(like: torch.Tensor) -> dict[str, torch.Tensor]:
    return {name: torch.zeros_like(like) for name in ("nvcc", "tritium", "torch")}


def vector_add(folder: Path) -> Case:
    """x + y of 2^26 elements."""
    n = 1 << 26
    x, y = torch.randn(2, n, device="cuda")
    out, cuda = _outputs(x), compile_cuda("vector_add", folder)
    run = {
        "nvcc": lambda: cuda.launch((tritium.cdiv(n, 256), 1), x, y, out["nvcc"], n),
        "tritium": lambda: add_kernel[(tritium.cdiv(n, 1024),)](x, y, out["tritium"], n, BLOCK_SIZE=1024),
        "torch": lambda: torch.add(x, y, out=out["torch"]),
    }
    return Case("vector_add", f"{n:,}", 12 * n, "GB/s", run, out, 0)


def row_sums(folder: Path) -> Case:
    """The sums of 16,384 rows of 4,096 elements."""
    rows, columns = 16_384, 4_096
    x = torch.randn(rows, columns, device="cuda")
    out, cuda = _outputs(x[:, 0].contiguous()), compile_cuda("row_sums", folder)
    run = {
        "nvcc": lambda: cuda.launch((rows, 1), x, out["nvcc"], columns),
        "tritium": lambda: ours.row_sums[(rows,)](x, out["tritium"], columns, BLOCK=1024, num_warps=8),
        "torch": lambda: torch.sum(x, 1, out=out["torch"]),
    }
    return Case("row_sums", f"{rows:,} x {columns:,}", 4 * x.numel(), "GB/s", run, out, 1e-3)


def softmax(folder: Path) -> Case:
    """The softmax of 65,536 rows of 1,024 elements."""
    rows, columns = 65_536, 1_024
    x = torch.randn(rows, columns, device="cuda")
    out, cuda = _outputs(x), compile_cuda("softmax", folder)
    run = {
        "nvcc": lambda: cuda.launch((rows, 1), x, out["nvcc"], columns),
        "tritium": lambda: ours.softmax[(rows,)](x, out["tritium"], columns, BLOCK=1024, num_warps=8),
        "torch": lambda: torch.softmax(x, 1, out=out["torch"]),
    }
    return Case("softmax", f"{rows:,} x {columns:,}", 8 * x.numel(), "GB/s", run, out, 1e-6)


def matmul(folder: Path) -> Case:
    """f16 matrices of 4,096 x 4,096."""
    n = 4_096
    a, b = torch.randn(2, n, n, device="cuda", dtype=torch.float16) / 8
    out, cuda = _outputs(a), compile_cuda("matmul", folder)
    grid = (n // 128, n // 128)
    run = {
        "nvcc": lambda: cuda.launch(grid, a, b, out["nvcc"], n, n, n),
        "tritium": lambda: ours.matmul[grid](a, b, out["tritium"], n, n, n, M=128, N=128, K=32, num_warps=8),
        "torch": lambda: torch.mm(a, b, out=out["torch"]),
    }
    return Case("matmul", f"{n:,}^3", 2.0 * n**3, "TFLOP/s", run, out, 1e-2)


def check(case: Case) -> None:
    """Run each once and compare with torch; ValueError for a wrong result."""
    for run in case.run.values():
        run()
    torch.cuda.synchronize()
    expected = case.outputs["torch"].double()
    for name, found in case.outputs.items():
        error = (found.double() - expected).abs().max().item()
        if not error <= case.tolerance:
            raise ValueError(f"{case.name}: {name} differs from torch by {error}")


def times(case: Case) -> dict[str, float]:
    """The median seconds of each, measured by turns with a cold L2 cache."""
    flush = torch.empty(L2_BYTES, dtype=torch.uint8, device="cuda")
    found: dict[str, list[tuple[torch.cuda.Event, torch.cuda.Event]]] = {name: [] for name in case.run}
    for _ in range(REPETITIONS):
        for name, run in case.run.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            start.record()
            run()
            end.record()
            found[name].append((start, end))
    torch.cuda.synchronize()
    return {name: median(s.elapsed_time(e) for s, e in pairs) / 1e3 for name, pairs in found.items()}


def clocks() -> str:
    """The card, its SM and memory clocks and its power now."""
    query = ["nvidia-smi", "--query-gpu=name,clocks.sm,clocks.mem,power.draw", "--format=csv,noheader", "-i", "0"]
    if shutil.which(query[0]) is None:
        return torch.cuda.get_device_name()
    return subprocess.run(query, capture_output=True, text=True).stdout.strip()


def measure(folder: Path) -> None:
    """Check and measure all kernels, and print a table."""
    print(f"{clocks()}; torch {torch.__version__}; the median of {REPETITIONS}, L2 cleared\n")
    print("| kernel | size | nvcc | tritium | torch | unit | tritium / nvcc |\n|---|---|---:|---:|---:|---|---:|")
    seen = []
    for make in (vector_add, row_sums, softmax, matmul):
        case = make(folder)
        check(case)
        times(case)  # warm up: clocks, launches
        seconds = times(case)
        for _ in range(20):  # the clock under this load
            case.run["tritium"]()
        seen.append(f"{case.name}: {clocks()}")
        rate = {name: case.work / s / (1e9 if case.unit == "GB/s" else 1e12) for name, s in seconds.items()}
        figures = " | ".join(f"{rate[name]:,.0f}" for name in ("nvcc", "tritium", "torch"))
        ratio = rate["tritium"] / rate["nvcc"]
        print(f"| {case.name} | {case.shape} | {figures} | {case.unit} | {ratio:.2f} |", flush=True)
        del case
        torch.cuda.empty_cache()
    print("\n" + "\n".join(seen))
