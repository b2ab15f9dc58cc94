"""Kernels that `benchmarks/interpreter.py` interprets, with both interpreters."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * stride + at, mask=at < n, other=-float("inf"))
    powers = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * stride + at, powers / tl.sum(powers, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_at = a + rows[:, None] * K + inner[None, :]
    b_at = b + inner[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        total = tl.dot(tl.load(a_at), tl.load(b_at), total, input_precision="ieee")
        a_at += BK
        b_at += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def attention(q, k, v, o, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    at, d = tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        keys = tl.load(k + (start + at)[None, :] * D + d[:, None])
        scores = tl.dot(queries, keys, input_precision="ieee") * 0.125
        now = tl.maximum(most, tl.max(scores, 1))
        powers = tl.exp(scores - now[:, None])
        less = tl.exp(most - now)
        norm = norm * less + tl.sum(powers, 1)
        values = tl.load(v + (start + at)[:, None] * D + d[None, :])
        total = tl.dot(powers, values, total * less[:, None], input_precision="ieee")
        most = now
    tl.store(o + rows[:, None] * D + d[None, :], total / norm[:, None])
