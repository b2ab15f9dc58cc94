"""Matrix multiplication in float32 against torch (its BLAS), 256 to 4096 rows, on one thread and on all.

python benchmarks/matmul_f32.py [--grid] [--sizes 256,1024]

`--grid` compares the shapes of `SHAPES` instead: what `blocks_for` is made from.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any

import torch
from measure import Row, against, example, main

import tritium as triton
from tritium.tools.timing import by_turns

matmul = example("matmul")
SIZES = (256, 512, 1024, 2048, 4096)
SHAPES = ((64, 64, 64), (64, 128, 64), (64, 128, 128), (128, 128, 64), (128, 256, 64), (256, 256, 32), (256, 256, 64),
          (256, 256, 128), (256, 512, 64), (512, 512, 64))  # fmt: skip
ALL_THREADS = torch.get_num_threads()


def blocks_for(n: int, threads: int) -> tuple[int, int, int]:
    """Rows, columns and depth of a program's blocks: as large as leaves each thread two programs."""
    for rows, columns in ((256, 256), (128, 256), (128, 128), (64, 128)):
        if (n // rows) * (n // columns) >= 2 * threads or threads == 1:
            return rows, columns, 64
    return 64, 64, 64


def multiply(n: int, threads: int, shape: tuple[int, int, int]) -> tuple[Callable[[], None], Callable[[], Any]]:
    """Our product of two n x n matrices on `threads` threads in blocks of `shape`, and torch's; both are checked."""
    torch.set_num_threads(threads)
    a, b, c, d = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n), torch.empty(n, n)
    rows, columns, depth = shape
    blocks = {"BLOCK_SIZE_M": rows, "BLOCK_SIZE_N": columns, "BLOCK_SIZE_K": depth, "GROUP_SIZE_M": 8}
    grid = (triton.cdiv(n, rows) * triton.cdiv(n, columns),)
    kernel = matmul.matmul_kernel

    def ours() -> None:
        kernel[grid](a, b, c, n, n, n, n, 1, n, 1, n, 1, ACTIVATION="", num_threads=threads, **blocks)

    def theirs() -> None:
        torch.matmul(a, b, out=d)

    ours()
    theirs()
    assert torch.allclose(c, d, rtol=1e-3, atol=1e-2)
    return ours, theirs


def measure() -> list[Row]:
    """The rows of this script."""
    rows = []
    for threads, name in ((1, "one thread"), (ALL_THREADS, "all threads")):
        for n in SIZES:
            if n == 4096 and threads == 1:
                continue  # as 2048, and eight times as long
            ours, theirs = multiply(n, threads, blocks_for(n, threads))
            how = {"slice_s": 0.1, "rounds": 7 if n > 1024 else 11}
            rows += against(f"matmul {n}^3 f32, {name}", ours, {"torch": (theirs, 0.9)}, **how)
    torch.set_num_threads(ALL_THREADS)
    return rows


def grid() -> None:
    """The ratio to torch of each shape that fits, by size and threads."""
    sizes = next((tuple(map(int, arg.split(","))) for arg in sys.argv if arg[0].isdigit()), SIZES)
    for threads in (1, ALL_THREADS):
        for n in sizes:
            found = []
            for shape in SHAPES:
                if max(shape) <= n and not (n == 4096 and threads == 1):
                    ours, theirs = multiply(n, threads, shape)
                    times = by_turns({"ours": ours, "torch": theirs}, slice_s=0.03, rounds=5)
                    found.append((times["torch"] / times["ours"], shape, times["torch"]))
            if found:
                gflops = 2e-9 * n**3 / statistics.median(time for _, _, time in found)
                row = ", ".join(f"{'x'.join(map(str, shape))} {ratio:.2f}" for ratio, shape, _ in sorted(found)[::-1])
                print(f"{n}^3, {threads} threads, torch {gflops:.0f} GFLOP/s: {row}", flush=True)


if __name__ == "__main__":
    grid() if "--grid" in sys.argv else main(measure)
