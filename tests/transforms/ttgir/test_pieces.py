"""Dots in pieces, and operands read again in loops, compute the same on the emulated GPU."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver


@pytest.fixture(params=[80, 90])
def chip(request: pytest.FixtureRequest) -> Iterator[int]:
    driver.set_active(EmulatedCUDADriver(request.param))
    yield request.param
    driver.reset_active()


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns, ks = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + k + ks[None, :])
        y = tl.load(b + (k + ks[:, None]) * N + columns[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def half(total, q, k_ptr, begin, end, D: tl.constexpr, STEP: tl.constexpr):
    for first in range(begin, end, STEP):
        k = tl.load(k_ptr + (first + tl.arange(0, STEP))[None, :] * D + tl.arange(0, D)[:, None])
        total += tl.sum(tl.dot(q, k), 1)
    return total


@triton.jit
def twice(q_ptr, k_ptr, o_ptr, middle, n, M: tl.constexpr, D: tl.constexpr, STEP: tl.constexpr):
    """One tile is an operand in two loops."""
    q = tl.load(q_ptr + tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :])
    total = tl.zeros([M], tl.float32)
    total = half(total, q, k_ptr, 0, middle, D, STEP)
    total = half(total * 2.0, q, k_ptr, middle, n, D, STEP)
    tl.store(o_ptr + tl.arange(0, M), total)


def whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Small integers, whose sums are exact."""
    return rng.integers(-3, 4, shape).astype(np.float16)


@pytest.mark.parametrize(("stages", "trips"), [(1, 2), (2, 3), (3, 4), (3, 0)])
def test_prefetched_dots_in_pieces(chip: int, stages: int, trips: int) -> None:
    rng = np.random.default_rng(stages)
    k = 64 * trips
    a, b = whole(rng, 64, k), whole(rng, k, 64)
    c = np.full((64, 64), np.nan, np.float32)
    product[(1,)](a, b, c, 64, 64, k, BM=64, BN=64, BK=64, num_warps=4, num_stages=stages)
    assert np.array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


@pytest.mark.parametrize(("middle", "n"), [(32, 96), (0, 64), (64, 64)])
def test_operand_read_in_two_loops(chip: int, middle: int, n: int) -> None:
    rng = np.random.default_rng(n)
    q, k = whole(rng, 64, 64), whole(rng, n, 64)
    out = np.full(64, np.nan, np.float32)
    twice[(1,)](q, k, out, middle, n, M=64, D=64, STEP=32, num_warps=4, num_stages=2)
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    assert np.array_equal(out, scores[:, :middle].sum(1) * 2 + scores[:, middle:].sum(1))
