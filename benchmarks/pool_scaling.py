"""The thread pool alone, over hand-written kernels: scaling with threads, and what a small launch costs.

    python benchmarks/pool_scaling.py

Rows are workloads, columns numbers of threads; each cell is the median time and the speedup over one thread, with all
thread counts measured by turns.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import numpy as np
from dot_matmul import Blocks, address, matmul_text
from llvm_texts import softmax_text, vector_add_text

from tritium.backends.cpu import compile_llvm, host_target, load_kernel, set_num_threads
from tritium.conversion.llvm.abi import pack_arguments
from tritium.conversion.llvm.dot import plan_dot

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

Workload = Callable[[int], None]


def vector_add(size: int) -> Workload:
    """One program a 1024 elements."""
    kernel = load_kernel(compile_llvm(vector_add_text(), host_target()), "kernel")
    x, y, out = (np.ones(size, np.float32) for _ in range(3))
    args = pack_arguments(x.ctypes.data, y.ctypes.data, out.ctypes.data, size)
    at, grid = address(args), -(-size // 1024)
    return lambda threads, _keep=(x, y, out, args): kernel.launch(at, grid, 1, 1, threads)


def softmax(rows: int) -> Workload:
    """Rows of 1024, one program each."""
    kernel = load_kernel(compile_llvm(softmax_text(), host_target()), "kernel")
    x, out = (np.ones((rows, 1024), np.float32) for _ in range(2))
    args = pack_arguments(out.ctypes.data, x.ctypes.data, 1024, 1024, 1024)
    at = address(args)
    return lambda threads, _keep=(x, out, args): kernel.launch(at, rows, 1, 1, threads)


def matmul(n: int, blocks: Blocks) -> Workload:
    """n^3 in f32, one program a tile of C."""
    plan = plan_dot(host_target(), blocks.bm, blocks.bn, blocks.bk, "f32", "f32", "f32")
    kernel = load_kernel(compile_llvm(matmul_text(n, blocks, plan), host_target()), "kernel")
    a, b, c = (np.ones((n, n), np.float32) for _ in range(3))
    args = pack_arguments(a.ctypes.data, b.ctypes.data, c.ctypes.data)
    at, grid = address(args), (n // blocks.bm) * (n // blocks.bn)
    return lambda threads, _keep=(a, b, c, args): kernel.launch(at, grid, 1, 1, threads)


def main() -> None:
    workloads = {
        "add 2^10 (1 program)": vector_add(1 << 10),
        "add 2^14 (16)": vector_add(1 << 14),
        "add 2^16 (64)": vector_add(1 << 16),
        "add 2^18 (256)": vector_add(1 << 18),
        "add 2^20 (1024)": vector_add(1 << 20),
        "add 2^24 (16384)": vector_add(1 << 24),
        "softmax 16 rows": softmax(16),
        "softmax 256 rows": softmax(256),
        "softmax 4096 rows": softmax(4096),
        "matmul 256^3 (16)": matmul(256, Blocks(64, 64, 64)),
        "matmul 1024^3 (64)": matmul(1024, Blocks(128, 128, 64)),
        "matmul 1024^3 (128)": matmul(1024, Blocks(64, 128, 64)),
        "matmul 2048^3 (256)": matmul(2048, Blocks(128, 128, 64)),
    }
    counts = sorted({n for n in (1, 2, 4, 8, 16, 32, 64) if n < CORES} | {CORES})
    set_num_threads(CORES)
    print(f"{host_target().cpu}, {CORES} cores; us (speedup over 1 thread)")
    print(f"{'threads':<24}" + "".join(f"{n:>20}" for n in counts))
    for name, run in workloads.items():
        times: dict[int, list[float]] = {n: [] for n in counts}
        stop = time.perf_counter() + 1.0
        while time.perf_counter() < stop or len(times[1]) < 5:
            for n in counts:
                run(n)  # a turn to get used to so many threads
                for _ in range(5):
                    start = time.perf_counter()
                    run(n)
                    times[n].append(time.perf_counter() - start)
        middle = {n: statistics.median(t) * 1e6 for n, t in times.items()}
        cells = [f"{middle[n]:12.1f} ({middle[1] / middle[n]:4.1f}x)" for n in counts]
        print(f"{name:<24}" + "".join(f"{c:>20}" for c in cells), flush=True)


if __name__ == "__main__":
    main()
