"""Shapes, casts of scalars, and whole small programs: the same on an emulated GPU as on this CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.conversion.ttg_to_llvm.harness import both


@triton.jit
def transpose(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(o_ptr + j[:, None] * M + i[None, :], tl.trans(x))


@triton.jit
def reshape(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    y = tl.reshape(x, (N // 2, M, 2))
    k = tl.arange(0, N // 2)[:, None, None] * (2 * M) + i[None, :, None] * 2 + tl.arange(0, 2)[None, None, :]
    tl.store(o_ptr + k, y)


@triton.jit
def permute(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    y = tl.permute(tl.reshape(x, (M // 2, 2, N // 4, 4)), (2, 0, 3, 1))
    tl.store(o_ptr + tl.arange(0, M * N), tl.reshape(y, (M * N,)))


@triton.jit
def joined(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M * N)
    x = tl.load(x_ptr + at)
    y = tl.join(x, x * 2)
    tl.store(o_ptr + at[:, None] * 2 + tl.arange(0, 2)[None, :], y)


@triton.jit
def split(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M * N // 2)
    x = tl.load(x_ptr + at[:, None] * 2 + tl.arange(0, 2)[None, :])
    a, b = tl.split(x)
    tl.store(o_ptr + at, a - b)
    tl.store(o_ptr + M * N // 2 + at, b)


@triton.jit
def interleaved(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    y = tl.interleave(x, x + 1)
    tl.store(o_ptr + i[:, None] * (2 * N) + tl.arange(0, 2 * N)[None, :], y)


@triton.jit
def outer(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M))
    y = tl.load(x_ptr + M + tl.arange(0, N))
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o_ptr + at, (x[:, None] * 2 - y[None, :]) + tl.broadcast_to(x[:, None], (M, N)))


@triton.jit
def one_element(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 1))
    y = tl.reshape(tl.broadcast_to(x, (1,)), (1, 1))
    tl.store(o_ptr + tl.arange(0, 1)[:, None] + tl.arange(0, 1)[None, :], y)


KERNELS = [transpose, reshape, permute, joined, split, interleaved, outer, one_element]


@pytest.mark.parametrize("shape", [(16, 32), (64, 4), (8, 8), (128, 16)])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_shapes(kernel, shape: tuple[int, int], seed: int) -> None:
    m, n = shape
    dtype = np.random.default_rng(seed).choice(["int8", "float16", "float32", "int64"])
    x = (np.arange(m * n) % 97 + 1).astype(dtype)
    warps = 2 ** (seed % 4)
    cpu, gpu = both(kernel, 1, [x, np.zeros(2 * m * n, dtype)], M=m, N=n, num_warps=warps)
    assert (cpu[1] == gpu[1]).all()


@triton.jit
def catenated(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x, y = tl.load(x_ptr + at), tl.load(x_ptr + N + at)
    tl.store(o_ptr + tl.arange(0, 2 * N), tl.cat(x, y, can_reorder=True))


@pytest.mark.parametrize("n", [32, 128, 1024])
def test_cat_keeps_all_elements(n: int) -> None:
    x = np.arange(2 * n, dtype=np.int32)
    _, (_, o) = both(catenated, 1, [x, np.zeros_like(x)], N=n)
    assert sorted(o) == list(range(2 * n))
