"""Products in loops, by descriptors and by pointers: kernels whose pipelines depend on every option."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

import tritium
import tritium.language as tl
from tritium.runtime import TensorDescriptor

__all__ = ["Case"]


@tritium.jit
def one_tile(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=SPECIALIZE):
        total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
    c.store([row, column], total.to(tl.float16))


@tritium.jit
def tile_after_tile(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr, FLAT: tl.constexpr
):
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=SPECIALIZE, flatten=FLAT):
        row, column = tile // columns * BM, tile % columns * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
        c.store([row, column], total.to(tl.float16))


@tritium.jit
def by_pointers(a, b, c, M, N, K, along_k, along_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a + rows[:, None] * K + k[None, :]
    b_at = b + k[:, None] * along_k + columns[None, :] * along_n
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        x = tl.load(a_at, mask=(rows[:, None] < M) & (k[None, :] < K - first), other=0.0)
        y = tl.load(b_at, mask=(columns[None, :] < N) & (k[:, None] < K - first), other=0.0)
        total = tl.dot(x, y, total)
        a_at += BK
        b_at += BK * along_k
    at = c + rows[:, None] * N + columns[None, :]
    tl.store(at, total.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


def aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros of f16 at a multiple of 128."""
    count = int(np.prod(shape)) * 2
    raw = np.zeros(count + 128, np.uint8)
    return raw[-raw.ctypes.data % 128 :][:count].view(np.float16).reshape(shape)


TILES = [(64, 64), (64, 128), (128, 128), (128, 256), (256, 128), (64, 256)]
SWITCHES = [
    "",
    "",
    "",
    "",
    "wgmma-in-flight",
    "multicast",
    "intra-warpgroup-overlap",
    "ping-pong",
    "stmatrix,tma",
    "async-copies",
]


@dataclass
class Case:
    """A kernel, sizes and options, drawn with a seed; `run` launches it, and gives its result and the right one."""

    seed: int

    def __post_init__(self) -> None:
        r = random.Random(self.seed)
        self.kind = r.choice(["one", "many", "flat", "pointers", "transposed"])
        bm, bn = r.choice(TILES)
        bk = r.choice([32, 64, 128])
        self.block = {"BM": bm, "BN": bn, "BK": bk}
        self.sizes = (*r.choice([(256, 256), (200, 264), (136, 512)]), r.choice([bk, 40, 64, 200, 320]))
        warps = 8 if bm * bn >= 128 * 256 else r.choice([4, 8])
        self.options: dict[str, Any] = {"num_warps": warps, "num_stages": r.choice([1, 2, 3, 4])}
        if r.random() < 0.25:
            self.options["num_ctas"] = 2
        if without := r.choice(SWITCHES):
            self.options["without"] = without
        self.specialize = r.random() < 0.4

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        m, n, k = self.sizes
        bm, bn, bk = self.block.values()
        rng = np.random.default_rng(self.seed)
        a, b, c = aligned((m, k)), aligned((n, k)), aligned((m, n))
        a[...], b[...] = rng.integers(-4, 5, a.shape), rng.integers(-4, 5, b.shape)
        wanted = (a.astype(np.float32) @ b.T.astype(np.float32)).astype(np.float16)
        grid = (-(-m // bm), -(-n // bn))
        options = {**self.block, **self.options}
        if self.kind in ("pointers", "transposed"):
            y = aligned((k, n))
            y[...] = b.T
            y, strides = (y, (n, 1)) if self.kind == "pointers" else (b, (1, k))
            by_pointers[grid](a, y, c, m, n, k, *strides, **options)
            return c, wanted
        maps = (
            TensorDescriptor(a, [m, k], [k, 1], [bm, bk]),
            TensorDescriptor(b, [n, k], [k, 1], [bn, bk]),
            TensorDescriptor(c, [m, n], [n, 1], [bm, bn]),
        )
        if self.kind == "one":
            one_tile[grid](*maps, k, SPECIALIZE=self.specialize, **options)
        else:
            tile_after_tile[(3,)](*maps, m, n, k, SPECIALIZE=self.specialize, FLAT=self.kind == "flat", **options)
        return c, wanted
