"""Kernels that `gpu.py` measures, in the language alone: Triton compiles the same text, with its own names in front."""

import tritium as triton
import tritium.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.jit
def gelu_chain(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """gelu(x * y + x) * y, with the approximation by tanh."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    z = x * y + x
    inner = 0.7978845608028654 * (z + 0.044715 * z * z * z)
    half = 0.5 * z * (1 + (2 * tl.sigmoid(2 * inner) - 1))
    tl.store(out_ptr + at, half * y, mask=mask)


@triton.jit
def silu_chain(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """silu(x) * y of 16-bit floats, computed in f32."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + at, mask=mask).to(tl.float32)
    tl.store(out_ptr + at, (x * tl.sigmoid(x) * y).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax(out_ptr, x_ptr, x_stride, out_stride, columns, BLOCK: tl.constexpr):
    """A program a row, which stays in registers."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * x_stride + at, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + at, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def row_sum(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


@triton.jit
def column_sum(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    first = tl.program_id(1) * M * 8
    total = tl.zeros([M, N], tl.float32)
    for step in range(8):
        row = first + step * M + tl.arange(0, M)
        mask = (row[:, None] < rows) & (at[None, :] < columns)
        total += tl.load(x_ptr + row[:, None] * columns + at[None, :], mask=mask, other=0.0)
    tl.atomic_add(out_ptr + at, tl.sum(total, axis=0), mask=at < columns)


@triton.jit
def row_argmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=-float("inf"))
    tl.store(out_ptr + row, tl.argmax(x, axis=0))


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * columns + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < columns))
    mask = (j[:, None] < columns) & (i[None, :] < rows)
    tl.store(out_ptr + j[:, None] * rows + i[None, :], tl.trans(x), mask=mask)


@triton.jit
def histogram(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    total = tl.zeros([BINS], tl.int32)
    for step in range(8):
        at = (tl.program_id(0) * 8 + step) * BLOCK + tl.arange(0, BLOCK)
        total += tl.histogram(tl.load(x_ptr + at, mask=at < n, other=0), BINS)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), total)


@triton.jit
def scatter_add(index_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    index = tl.load(index_ptr + at, mask=mask)
    tl.atomic_add(out_ptr + index, tl.load(x_ptr + at, mask=mask), mask=mask, sem="relaxed")


@triton.jit
def row_cumsum(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
    tl.store(out_ptr + row * columns + at, tl.cumsum(x, axis=0), mask=at < columns)


@triton.jit
def row_gather(x_ptr, index_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    """out[i, j] = x[i, index[i, j]] in blocks of M rows."""
    at = (tl.program_id(0) * M + tl.arange(0, M))[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.gather(tl.load(x_ptr + at), tl.load(index_ptr + at), axis=1))


@triton.jit
def row_sort(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = (tl.program_id(0) * M + tl.arange(0, M))[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def row_topk(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    best = tl.topk(tl.load(x_ptr + rows[:, None] * N + tl.arange(0, N)[None, :]), K)
    tl.store(out_ptr + rows[:, None] * K + tl.arange(0, K)[None, :], best)
