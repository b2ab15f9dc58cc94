"""Reductions with functions that are associative and not commutative keep the order of elements."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl


@tt.jit
def compose(a, b, c, d):
    """x -> a * x + b, then x -> c * x + d."""
    return a * c, b * c + d


@tt.jit
def later(a, b):
    return b


@tt.jit
def reduced(x, y, slopes, shifts, lasts, sums, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    a, b = tl.load(x + at), tl.load(y + at)
    slope, shift = tl.reduce((a, b), AXIS, compose)
    out = tl.arange(0, M if AXIS == 1 else N)
    tl.store(slopes + out, slope)
    tl.store(shifts + out, shift)
    tl.store(lasts + out, tl.reduce(a, AXIS, later))
    tl.store(sums + out, tl.sum(a, AXIS))  # of the same elements, in any order: one loop may do both


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 8), (4, 64), (64, 4), (8, 128), (1, 512), (3, 100)])
def test_in_order(shape: tuple[int, int], axis: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(1, 4, shape).astype(np.int32), rng.integers(-3, 4, shape).astype(np.int32)
    out = [np.full(shape[1 - axis], -7, np.int32) for _ in range(4)]
    reduced[(1,)](x, y, *out, *shape, axis)
    rows, shifts = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    slope, shift = rows[0], shifts[0]
    with np.errstate(over="ignore"):
        for c, d in zip(rows[1:], shifts[1:]):
            slope, shift = slope * c, shift * c + d
    for got, want in zip(out, (slope, shift, rows[-1], rows.sum(0))):
        np.testing.assert_array_equal(got, want)


@tt.jit
def over_all(x, keep, out, counts, M: tl.constexpr, N: tl.constexpr):
    """Reductions over all elements of a tile, in which each has something beside it, or its place."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(x + at)
    least, where_ = tl.min(a, None, return_indices=True)
    tl.store(out, least)
    tl.store(out + 1, where_)
    tl.store(out + 2, tl.argmax(a, None))
    tl.store(out + 3, tl.reduce(tl.reshape(a, [M * N]), 0, later))
    slope, shift = tl.reduce((tl.reshape(a & 3, [M * N]), tl.arange(0, M * N)), 0, compose)
    tl.store(out + 4, slope)
    tl.store(out + 5, shift)
    kept = tl.load(keep + tl.arange(0, M * N)) != 0
    tl.store(counts + tl.arange(0, 8), tl.histogram(tl.reshape(a, [M * N]) & 7, 8, mask=kept))


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("shape", [(1, 128), (4, 2), (16, 16), (64, 16), (32, 64)])
def test_over_all_elements(shape: tuple[int, int], warps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(-500, 500, shape).astype(np.int32)
    keep = rng.integers(0, 2, x.size).astype(np.int32)
    out, counts = np.full(6, -7, np.int32), np.full(8, -7, np.int32)
    over_all[(1,)](x, keep, out, counts, *shape, num_warps=warps)
    flat = x.ravel()
    slope, shift = np.int64(flat[0] & 3), np.int64(0)
    for i, c in enumerate(flat[1:] & 3, 1):
        slope, shift = (slope * c) & 0xFFFFFFFF, (shift * c + i) & 0xFFFFFFFF
    want = [flat.min(), flat.argmin(), flat.argmax(), flat[-1], slope, shift]
    np.testing.assert_array_equal(out.view(np.uint32), np.array(want, np.int64).astype(np.uint32))
    np.testing.assert_array_equal(counts, np.bincount(flat[keep != 0] & 7, minlength=8))
