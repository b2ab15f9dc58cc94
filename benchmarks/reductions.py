"""Reductions and scans on the CPU beside torch's: a table of ratios.

    python benchmarks/reductions.py [--rounds 30] [--threads 1]

Peers take turns, with as many threads each; times are the least ones, which a busy machine spoils least. Both sides
store to arrays that are there already: a new one of 64 MB costs more to map than to fill. Arrays of 64 MB do not fit
into caches, those of 1 MB do. Results are compared with torch's in float64 before anything is timed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tritium as triton
import tritium.language as tl


@triton.jit
def row_sum(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + row * columns + at, mask=at < columns, other=0), axis=0))


@triton.jit
def row_max(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.max(tl.load(x_ptr + row * columns + at, mask=at < columns, other=-1e30), axis=0))


@triton.jit
def row_argmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.argmax(tl.load(x_ptr + row * columns + at, mask=at < columns, other=-1e30), axis=0))


@triton.jit
def column_sum(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    for first in range(0, rows, M):
        down = first + tl.arange(0, M)
        inside = (down < rows)[:, None] & (at < columns)[None, :]
        total += tl.sum(tl.load(x_ptr + down[:, None] * columns + at[None, :], mask=inside, other=0), axis=0)
    tl.store(out_ptr + at, total, mask=at < columns)


@triton.jit
def row_cumsum(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0)
    tl.store(out_ptr + row * columns + at, tl.cumsum(x, axis=0), mask=at < columns)


@triton.jit
def row_softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


Case = tuple[str, Callable[[], Any], Callable[[], Any], torch.Tensor, Callable[[], torch.Tensor]]


def cases(threads: int) -> Iterator[Case]:
    """(name, ours, torch's, our result, the exact one)"""
    for rows, columns in ((4096, 4096), (256, 1024), (64, 65536)):
        yield from _of_size(rows, columns, threads)


def _of_size(rows: int, columns: int, threads: int) -> Iterator[Case]:
    x = torch.randn(rows, columns)
    wide = x.double()
    block, grid = triton.next_power_of_2(columns), (rows,)
    one, place = torch.full((rows,), 7.0), torch.full((rows,), -1, dtype=torch.int64)
    across, full = torch.full((columns,), 7.0), torch.full_like(x, 7.0)
    their_one, their_place, their_across, their_full = (torch.full_like(t, 7) for t in (one, place, across, full))
    size = f"{rows}x{columns}"
    yield (
        f"sum of rows {size}", lambda: row_sum[grid](x, one, columns, BLOCK=block, num_threads=threads),
        lambda: torch.sum(x, 1, out=their_one), one, lambda: wide.sum(1),
    )  # fmt: skip
    yield (
        f"max of rows {size}", lambda: row_max[grid](x, one, columns, BLOCK=block, num_threads=threads),
        lambda: torch.amax(x, 1, out=their_one), one, lambda: wide.amax(1),
    )  # fmt: skip
    yield (
        f"argmax of rows {size}", lambda: row_argmax[grid](x, place, columns, BLOCK=block, num_threads=threads),
        lambda: torch.argmax(x, 1, out=their_place), place, lambda: wide.argmax(1),
    )  # fmt: skip
    yield (
        f"sum of columns {size}",
        lambda: column_sum[(triton.cdiv(columns, 1024),)](x, across, rows, columns, M=8, N=1024, num_threads=threads),
        lambda: torch.sum(x, 0, out=their_across), across, lambda: wide.sum(0),
    )  # fmt: skip
    yield (
        f"cumsum of rows {size}", lambda: row_cumsum[grid](x, full, columns, BLOCK=block, num_threads=threads),
        lambda: torch.cumsum(x, 1, out=their_full), full, lambda: wide.cumsum(1),
    )  # fmt: skip
    yield (
        f"softmax of rows {size}", lambda: row_softmax[grid](x, full, columns, BLOCK=block, num_threads=threads),
        lambda: torch.softmax(x, 1, out=their_full), full, lambda: torch.softmax(wide, 1),
    )  # fmt: skip


def least(runs: list[Callable[[], Any]], rounds: int) -> list[float]:
    """The least milliseconds of each, by turns."""
    times: list[list[float]] = [[] for _ in runs]
    for number in range(rounds + 2):
        for i in range(len(runs)):
            which = (i + number) % len(runs)
            start = time.perf_counter()
            runs[which]()
            if number >= 2:
                times[which].append((time.perf_counter() - start) * 1e3)
    return [min(found) for found in times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1, help="of each side")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    print("| what | ours, ms | torch | torch / ours |\n|---|---:|---:|---:|")
    for name, ours, theirs, out, exact in cases(arguments.threads):
        if arguments.only not in name:
            continue
        ours()
        torch.testing.assert_close(out, exact().to(out.dtype), rtol=1e-3, atol=1e-2)
        a, b = least([ours, theirs], arguments.rounds)
        print(f"| {name} | {a:.4f} | {b:.4f} | {b / a:.2f}x |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
