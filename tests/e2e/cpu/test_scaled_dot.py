"""`tl.dot_scaled` on the CPU: operands packed along other dimensions, without scales, in batches, of 16-bit floats."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs

FOUR_BITS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def pack(codes: np.ndarray, axis: int) -> np.ndarray:
    """Two codes a byte along `axis`, the first in the low bits."""
    low, high = np.split(np.stack(np.split(codes, codes.shape[axis] // 2, axis), 0), 2, axis + 1)
    return np.concatenate(list(low | high << 4), axis).astype(np.uint8)


@tritium.jit
def rows_packed(a, b, s, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    x = tl.load(a + tl.arange(0, M // 2)[:, None] * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :])
    scale = tl.load(s + tl.arange(0, N)[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    c = tl.dot_scaled(x, None, "e2m1", y, scale, "e2m1", lhs_k_pack=False, rhs_k_pack=False)
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_packed_along_rows_and_columns(kind: type, interpret: bool) -> None:
    rng = np.random.default_rng(0)
    m, n, k = 32, 16, 64
    a, b = rng.integers(0, 16, (m, k)), rng.integers(0, 16, (k, n))
    scales = rng.integers(120, 134, (n, k // 32)).astype(np.uint8)
    out = np.zeros((m, n), np.float32)
    with knobs.runtime.scope():
        knobs.runtime.interpret = interpret
        rows_packed[(1,)](pack(a, 0), pack(b, 1), scales.view(kind), out, M=m, N=n, K=k)
    factors = np.repeat(2.0 ** (scales.astype(int) - 127), 32, 1).T
    np.testing.assert_allclose(out, FOUR_BITS[a] @ (FOUR_BITS[b] * factors), rtol=1e-6, atol=1e-4)


@tritium.jit
def batches(a, b, s, out, B: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FORMAT: tl.constexpr):
    batch = tl.arange(0, B)[:, None, None]
    at = batch * (N * K) + tl.arange(0, N)[None, :, None] * K + tl.arange(0, K)[None, None, :]
    x, y = tl.load(a + at), tl.load(b + at)
    scale = tl.load(s + batch * N + tl.arange(0, N)[None, :, None] + tl.arange(0, K // 32)[None, None, :])
    c = tl.dot_scaled(x, scale, FORMAT, y.permute(0, 2, 1), None, FORMAT, acc=tl.full((B, N, N), 1.0, tl.float32))
    tl.store(out + batch * (N * N) + tl.arange(0, N)[None, :, None] * N + tl.arange(0, N)[None, None, :], c)


@pytest.mark.parametrize("bits", [False, True])
def test_batches_of_halves(bits: bool) -> None:
    """fp16 operands, as such or as the bits of unsigned integers; K is one group, so a row has one scale."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((2, 16, 32)).astype(np.float16) for _ in range(2))
    scales = rng.integers(126, 130, (2, 16, 1)).astype(np.uint8)
    out = np.zeros((2, 16, 16), np.float32)
    arguments = (a.view(np.uint16), b.view(np.uint16)) if bits else (a, b)
    batches[(1,)](*arguments, scales, out, B=2, N=16, K=32, FORMAT="fp16")
    wide = a.astype(np.float64) * 2.0 ** (scales.astype(int) - 127)
    np.testing.assert_allclose(out, 1 + wide @ b.astype(np.float64).transpose(0, 2, 1), rtol=1e-5, atol=1e-4)


@tritium.jit
def two_groups(out):
    x, y = tl.full((16, 64), 0, tl.uint8), tl.full((64, 16), 0, tl.uint8)
    fine, coarse = tl.full((16, 4), 127, tl.uint8), tl.full((16, 2), 127, tl.uint8)
    c = tl.dot_scaled(x, fine, "e5m2", y, coarse, "e5m2")
    tl.store(out, tl.sum(c))


def test_scales_of_two_groups_are_refused() -> None:
    with pytest.raises(tritium.CompilationError, match=r"the same scale factor; \(lhs: 16 vs rhs: 32\)"):
        two_groups[(1,)](np.zeros(1, np.float32))
