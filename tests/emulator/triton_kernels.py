"""Kernels in Triton's language, which Triton itself compiles to PTX for `test_triton`. Imported by its process only."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=3):
        offsets = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * columns + offsets, e / tl.sum(e, axis=0), mask=offsets < columns)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    a = a_ptr + i[:, None] * K + k[None, :]
    b = b_ptr + k[:, None] * N + j[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, BLOCK):
        total += tl.dot(tl.load(a), tl.load(b))
        a += BLOCK
        b += BLOCK * N
    tl.store(c_ptr + i[:, None] * N + j[None, :], total)


@triton.jit
def scans(x_ptr, sums_ptr, best_ptr, at_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(sums_ptr + offsets, tl.cumsum(x, axis=0))
    tl.store(best_ptr, tl.max(x, axis=0))
    tl.store(at_ptr, tl.argmax(x, axis=0))


@triton.jit
def count(x_ptr, bins_ptr, counts_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(counts_ptr + x, 1, mask=offsets < n)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=offsets < n))


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=offsets < n)


@triton.jit
def locked_sum(x_ptr, total_ptr, lock_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    total = tl.load(total_ptr + tl.arange(0, BLOCK))
    tl.store(total_ptr + tl.arange(0, BLOCK), total + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def transpose(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(out_ptr + j[:, None] * M + i[None, :], tl.trans(x) * 2)


@triton.jit
def described_matmul(a_desc, b_desc, c_desc, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BLOCK):
        total = tl.dot(a_desc.load([0, k]), b_desc.load([0, k]).T, total)
    c_desc.store([0, 0], total)


@triton.jit
def attend(q_desc, k_desc, v_desc, out_ptr, COUNT, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    q = q_desc.load([0, 0])
    peak = tl.full([M], float("-inf"), tl.float32)
    weight = tl.zeros([M], tl.float32)
    total = tl.zeros([M, D], tl.float32)
    for n in range(0, COUNT, N):
        scores = tl.dot(q, k_desc.load([n, 0]).T)
        above = tl.maximum(peak, tl.max(scores, 1))
        p = tl.exp(scores - above[:, None])
        scale = tl.exp(peak - above)
        weight = weight * scale + tl.sum(p, 1)
        total = tl.dot(p.to(tl.float16), v_desc.load([n, 0]), total * scale[:, None])
        peak = above
    at = tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(out_ptr + at, total / weight[:, None])


@triton.jit
def layer_norm(x_ptr, out_ptr, weight_ptr, bias_ptr, columns, eps, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * columns
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < columns, other=0.0).to(tl.float32)
        total += tl.where(at < columns, (x - mean) * (x - mean), 0.0)
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < columns, other=0.0).to(tl.float32)
        w, b = tl.load(weight_ptr + at, mask=at < columns), tl.load(bias_ptr + at, mask=at < columns)
        tl.store(out_ptr + tl.program_id(0) * columns + at, (x - mean) * scale * w + b, mask=at < columns)


@triton.jit
def functions(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.exp(x))
    tl.store(out_ptr + BLOCK + at, tl.log(x))
    tl.store(out_ptr + 2 * BLOCK + at, tl.sqrt(x))
    tl.store(out_ptr + 3 * BLOCK + at, tl.sin(x))
    tl.store(out_ptr + 4 * BLOCK + at, 1 / x)
    tl.store(out_ptr + 5 * BLOCK + at, tl.math.erf(x))
    tl.store(out_ptr + 6 * BLOCK + at, tl.math.rsqrt(x))


@triton.jit
def sort(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def integer_division(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(out_ptr + at, x // y)
    tl.store(out_ptr + BLOCK + at, x % y)
