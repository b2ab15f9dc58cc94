"""What registers have in common is computed once: sums, products and extensions of positions."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.conversion.ttg_to_llvm.harness import on_gpu
from tests.e2e import wrapping


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


@pytest.mark.parametrize("numbers", [(1, 2, 3), (2**31 - 1, -5, 2**40 + 1), (-(2**31), 2**31 - 1, -(2**62))])
def test_sums_and_products_wrap(numbers: tuple[int, int, int], seed: int) -> None:
    a, b, c = numbers
    x = np.random.default_rng(seed).integers(-(2**31), 2**31, 1024).astype(np.int32)
    o = np.zeros(1024, np.int64)
    on_gpu(wrapping.sums_of_strides, x, o, a, b, np.int64(c), BLOCK=1024).launch(1, x, o, a, b, np.int64(c))
    assert (o == wrapping.expected(x, a, b, c)).all()
