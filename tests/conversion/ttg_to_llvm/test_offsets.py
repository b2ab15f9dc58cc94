"""What registers have in common is computed once: sums, products and extensions of positions."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.conversion.ttg_to_llvm.harness import on_gpu


@triton.jit
def row_sum(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
    tl.store(o_ptr + row, tl.sum(total, axis=0))


def test_addresses_in_a_loop_have_one_base() -> None:
    x = np.arange(8 * 4096, dtype=np.float32) % 7
    o = np.zeros(8, np.float32)
    gpu = on_gpu(row_sum, x, o, 4096, BLOCK=2048)
    assert gpu.count(r"shl\.b64") == gpu.count(r"cvt\.s64\.s32") == 0
    assert gpu.count(r"mad\.wide") <= 3  # of a row, of a tile, of the result
    gpu.launch(8, x, o, 4096)
    assert (o == x.reshape(8, -1).sum(1)).all()


@triton.jit
def edges(x_ptr, o_ptr, a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    wide = (i + 3).to(tl.int64) * c + (i.to(tl.int64) + c) * 5
    near = ((i + a) * b + (i - 7) * 3).to(tl.int64)
    small = (i.to(tl.int8) + x.to(tl.int8)).to(tl.int32) + (i.to(tl.uint16) * 40000).to(tl.int32)
    tl.store(o_ptr + i, wide + near * 2 + small + (i + 2147483647).to(tl.int64))


@pytest.mark.parametrize("numbers", [(1, 2, 3), (2**31 - 1, -5, 2**40 + 1), (-(2**31), 2**31 - 1, -(2**62))])
def test_sums_and_products_wrap(numbers: tuple[int, int, int], seed: int) -> None:
    a, b, c = numbers
    x = np.random.default_rng(seed).integers(-(2**31), 2**31, 1024).astype(np.int32)
    o = np.zeros(1024, np.int64)
    on_gpu(edges, x, o, a, b, np.int64(c), BLOCK=1024).launch(1, x, o, a, b, np.int64(c))
    with np.errstate(over="ignore"):
        i = np.arange(1024, dtype=np.int32)
        wide = (i + 3).astype(np.int64) * np.int64(c) + (i + np.int64(c)) * np.int64(5)
        near = ((i + np.int32(a)) * np.int32(b) + (i - 7) * np.int32(3)).astype(np.int64)
        small = (i.astype(np.int8) + x.astype(np.int8)).astype(np.int32)
        small += (i.astype(np.uint16) * np.uint16(40000)).astype(np.int32)
        wanted = wide + near * 2 + small + (i + np.int32(2147483647)).astype(np.int64)
    assert (o == wanted).all()
