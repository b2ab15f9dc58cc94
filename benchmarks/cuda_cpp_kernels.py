"""The kernels of examples/cuda in Triton's language."""

from __future__ import annotations

import tritium
import tritium.language as tl


@tritium.jit
def row_sums(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + at, mask=at < columns)
    tl.store(out_ptr + row, tl.sum(total))


@tritium.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns + at
    x = tl.load(x_ptr + row, mask=at < columns, other=float("-inf"))
    e = tl.exp(x - tl.max(x))
    tl.store(out_ptr + row, e / tl.sum(e), mask=at < columns)


@tritium.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(1) * M + tl.arange(0, M)
    columns = tl.program_id(0) * N + tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for first in range(0, k, K):
        at = first + tl.arange(0, K)
        a = tl.load(a_ptr + rows[:, None] * k + at[None, :])
        b = tl.load(b_ptr + at[:, None] * n + columns[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], acc.to(tl.float16))
