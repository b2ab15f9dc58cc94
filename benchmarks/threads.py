"""Thread scaling: how many times as fast 2, 4, ... all cores are as one, for work bound by arithmetic and by memory.

Not part of the README's table by default: it says something only on a machine with real cores to spare.
"""

from __future__ import annotations

import os
from functools import partial

import numpy as np
from measure import Row, example, main

import tritium as triton
from tritium.tools.timing import by_turns

add_kernel = example("vector_add").add_kernel
softmax_kernel = example("fused_softmax").softmax_kernel
matmul = example("matmul")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def counts() -> list[int]:
    """1, 2, 4, ... and the number of cores."""
    return sorted({n for n in (1, 2, 4, 8, 16, 32, 64) if n < CORES} | {CORES})


def workloads() -> dict[str, object]:
    """name -> function of the number of threads."""
    rng = np.random.default_rng(0)
    n, rows, columns = 1024, 4096, 1024
    x, y, out = (rng.random(1 << 24, np.float32) for _ in range(3))
    a, b, c = (rng.random((n, n), np.float32) for _ in range(3))
    s, t = (rng.random((rows, columns), np.float32) for _ in range(2))
    add_grid, blocks = (triton.cdiv(x.size, 8192),), {**matmul.BLOCKS, "BLOCK_SIZE_M": 64}
    dot_grid = (triton.cdiv(n, blocks["BLOCK_SIZE_M"]) * triton.cdiv(n, blocks["BLOCK_SIZE_N"]),)
    return {
        "vector add 2^24": lambda k: add_kernel[add_grid](x, y, out, x.size, BLOCK_SIZE=8192, num_threads=k),
        "softmax 4096x1024": lambda k: softmax_kernel[(256,)](
            t, s, columns, columns, rows, columns, BLOCK_SIZE=columns, num_stages=2, num_threads=k
        ),
        "matmul 1024^3": lambda k: matmul.matmul_kernel[dot_grid](
            a, b, c, n, n, n, n, 1, n, 1, n, 1, ACTIVATION="", num_threads=k, **blocks
        ),
    }


def measure() -> list[Row]:
    """The rows of this script."""
    rows = []
    for name, run in workloads().items():
        times = by_turns({str(k): partial(run, k) for k in counts()}, rounds=9, slice_s=0.03)
        for k in counts()[1:]:
            note = f"{times['1'] * 1e3:.3g} ms -> {times[str(k)] * 1e3:.3g} ms"
            rows.append(Row(f"{name}, {k} threads against one", times["1"] / times[str(k)], "x", None, note))
    return rows


if __name__ == "__main__":
    main(measure)
