"""Atomics between programs that run at once; scans, sorting and histograms: on the CPU, against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.e2e.buffers import EPSILON, Buffer, assert_close, assert_equal
from tests.e2e.kernels import kernel_from

PROGRAMS, BLOCK, BINS = 400, 64, 7

ATOMIC = """
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.atomic_{name}(out_ptr + offsets % BINS, x, mask=mask)
"""
ATOMICS = {
    "add": (0, np.add),
    "max": (-(2**31), np.maximum),
    "min": (2**31 - 1, np.minimum),
    "and": (-1, np.bitwise_and),
    "or": (0, np.bitwise_or),
    "xor": (0, np.bitwise_xor),
}


@pytest.mark.sample(3, "name")
@pytest.mark.parametrize("name", ATOMICS)
def test_atomics_lose_nothing(name: str, rng, tmp_path: Path) -> None:
    """Lanes of one block and programs of several threads meet in seven places; integers, so any order is exact."""
    start, operation = ATOMICS[name]
    n = PROGRAMS * BLOCK - 5
    x, out = Buffer((n,), "i32", rng.integers(-1000, 1000, n)), Buffer((BINS,), "i32", np.full(BINS, start))
    kernel_from(ATOMIC.format(name=name), tmp_path)[(PROGRAMS,)](x.tensor, out.tensor, n, BLOCK=BLOCK, BINS=BINS)
    expected = [operation.reduce(x.values[i::BINS], initial=start) for i in range(BINS)]
    assert_equal(out, np.array(expected))


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_atomic_sums_of_floats(dtype: str, rng, tmp_path: Path) -> None:
    n = 1000
    x, out = Buffer((n,), dtype, rng.integers(0, 3, n)), Buffer((BINS,), dtype, np.zeros(BINS))
    kernel_from(ATOMIC.format(name="add"), tmp_path)[(16,)](x.tensor, out.tensor, n, BLOCK=BLOCK, BINS=BINS)
    assert_equal(out, np.array([x.values[i::BINS].sum() for i in range(BINS)]))  # small integers: exact in any order


LOCK = """
@triton.jit
def kernel(lock_ptr, count_ptr, old_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    tl.store(count_ptr, count + 1)
    tl.atomic_xchg(lock_ptr, 0)
    tl.store(old_ptr + tl.program_id(0), tl.atomic_add(count_ptr + 1, 1))
"""


def test_a_lock_keeps_programs_apart(tmp_path: Path) -> None:
    lock, count, old = Buffer((1,), "i32", [0]), Buffer((2,), "i32", [0, 0]), Buffer((2000,), "i32")
    kernel_from(LOCK, tmp_path)[(2000,)](lock.tensor, count.tensor, old.tensor)
    assert_equal(count, np.array([2000, 2000]))
    assert sorted(old.values) == list(range(2000)), "atomic_add returned a value twice"
    assert_equal(lock, np.array([0]))


ONE_BLOCK = """
@triton.jit
def combine(a, b):
    return tl.where(a > b, a, b)

@triton.jit
def kernel(x_ptr, out_ptr, N: tl.constexpr, OUT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, OUT), {expression})
"""
BLOCKS = {
    # expression: (number of results, reference); integers, so that sums are exact in any order
    "tl.cumsum(x, 0)": (128, np.cumsum),
    "tl.cumsum(x, 0, reverse=True)": (128, lambda x: np.cumsum(x[::-1])[::-1]),
    "tl.associative_scan(x, 0, combine)": (128, np.maximum.accumulate),
    "tl.sort(x)": (128, np.sort),
    "tl.sort(x, descending=True)": (128, lambda x: np.sort(x)[::-1]),
    "tl.topk(x, 8)": (8, lambda x: np.sort(x)[::-1][:8]),
    "tl.flip(x, 0)": (128, lambda x: x[::-1]),
    "tl.histogram(x.to(tl.int32) + 50, 128) * 1.0": (128, lambda x: np.bincount(x.astype(int) + 50, minlength=128)),
}


@pytest.mark.parametrize("expression", BLOCKS)
def test_blocks(expression: str, rng, tmp_path: Path) -> None:
    size, reference = BLOCKS[expression]
    x, out = Buffer((128,), values=rng.integers(-50, 50, 128)), Buffer((size,))
    kernel_from(ONE_BLOCK.format(expression=expression), tmp_path)[(1,)](x.tensor, out.tensor, N=128, OUT=size)
    assert_equal(out, np.asarray(reference(x.values), float))


def test_cumprod(rng, tmp_path: Path) -> None:
    x, out = Buffer((128,), values=rng.uniform(0.8, 1.2, 128)), Buffer((128,))
    kernel_from(ONE_BLOCK.format(expression="tl.cumprod(x, 0)"), tmp_path)[(1,)](x.tensor, out.tensor, N=128, OUT=128)
    assert_close(out, np.cumprod(x.values), rtol=128 * EPSILON["f32"] / 2)  # at most 127 roundings
