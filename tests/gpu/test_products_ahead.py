"""Attention whose first product is an iteration ahead: what it adds up is what it adds up otherwise, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from

torch = pytest.importorskip("torch")

ATTENTION = """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, total_ptr, blocks, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
           CAUSAL: tl.constexpr):
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d[None, :])
    acc = tl.full((M, D), 0.25, tl.float32)
    peak = tl.full((M,), -1e30, tl.float32)
    total = tl.full((M,), 0.5, tl.float32)
    for block in range(0, blocks):
        at = block * N + j
        k = tl.load(k_ptr + at[:, None] * D + d[None, :])
        v = tl.load(v_ptr + at[:, None] * D + d[None, :])
        s = tl.dot(q, k.T)
        if CAUSAL:
            s = tl.where(i[:, None] * 3 >= at[None, :], s, -1e20)
        new = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        scale = tl.exp2(peak - new)
        total = total * scale + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * scale[:, None])
        peak = new
    tl.store(o_ptr + i[:, None] * D + d[None, :], acc)
    tl.store(total_ptr + i, total)
    tl.store(total_ptr + M + i, peak)
"""


@pytest.mark.share(8)
@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize(("m", "n", "d", "warps"), [(128, 64, 128, 8), (128, 128, 64, 8), (256, 64, 64, 8)])
def test_sums_are_the_same(
    m: int, n: int, d: int, warps: int, causal: bool, blocks: int, seed: int, tmp_path: Path
) -> None:
    rng = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn((rows, d), generator=rng, dtype=torch.float32).half() for rows in (m, 7 * n, 7 * n))
    kernel = kernel_from(ATTENTION, tmp_path)
    results = []
    for without in ("first-dot-early", "wgmma-in-flight", ""):
        for stages in (2, 3, 4):
            out, totals = torch.full((m, d), float("nan")), torch.full((2, m), float("nan"))
            kernel[(1,)](
                q, k, v, out, totals, blocks, M=m, N=n, D=d, CAUSAL=causal,
                num_warps=warps, num_stages=stages, without=without,
            )  # fmt: skip
            results.append((without, stages, torch.cat([out.flatten(), totals.flatten()])))
    expected = results[0][2]
    assert not expected.isnan().any()
    for without, stages, found in results:
        assert torch.equal(found, expected), f"differs without {without or 'nothing'} at {stages} stages"


TAIL = """
@triton.jit
def blocks(acc, total, peak, q, k_ptr, v_ptr, start, stop, n, i, N: tl.constexpr, D: tl.constexpr, MASKED: tl.constexpr):
    j, d = tl.arange(0, N), tl.arange(0, D)
    for first in range(start, stop, N):
        at = first + j
        inside = at[:, None] < n
        k = tl.load(k_ptr + at[:, None] * D + d[None, :], mask=inside, other=0.0)
        v = tl.load(v_ptr + at[:, None] * D + d[None, :], mask=inside, other=0.0)
        s = tl.dot(q, k.T)
        if MASKED:
            s = tl.where((at[None, :] < n) & (i[:, None] + n - 128 >= at[None, :]), s, -1e20)
        new = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        scale = tl.exp2(peak - new)
        total = total * scale + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * scale[:, None])
        peak = new
    return acc, total, peak

@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, total_ptr, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
           DIAGONAL: tl.constexpr):
    i, d = tl.arange(0, M), tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d[None, :])
    acc = tl.full((M, D), 0.25, tl.float32)
    peak = tl.full((M,), -1e30, tl.float32)
    total = tl.full((M,), 0.5, tl.float32)
    full = (tl.maximum(n - M, 0) if DIAGONAL else n) // N * N
    acc, total, peak = blocks(acc, total, peak, q, k_ptr, v_ptr, 0, full, n, i, N, D, False)
    acc, total, peak = blocks(acc, total, peak, q, k_ptr, v_ptr, full, n, n, i, N, D, True)
    tl.store(o_ptr + i[:, None] * D + d[None, :], acc)
    tl.store(total_ptr + i, total)
    tl.store(total_ptr + M + i, peak)
"""


@pytest.mark.share(4)
@pytest.mark.parametrize("length", [0, 5, 64, 128, 129, 200, 320])
@pytest.mark.parametrize("diagonal", [False, True], ids=["tail", "diagonal"])
def test_what_is_left_behind_whole_blocks(diagonal: bool, length: int, seed: int, tmp_path: Path) -> None:
    """The second loop runs once at most, or a few times."""
    m, n, d = 128, 64, 128
    rng = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn((rows, d), generator=rng, dtype=torch.float32).half() for rows in (m, 320, 320))
    kernel = kernel_from(TAIL, tmp_path)
    results = []
    for without in ("first-dot-early", "wgmma-in-flight", ""):
        out, totals = torch.full((m, d), float("nan")), torch.full((2, m), float("nan"))
        kernel[(1,)](
            q, k, v, out, totals, length, M=m, N=n, D=d, DIAGONAL=diagonal, num_warps=8, num_stages=3, without=without
        )  # fmt: skip
        results.append((without, torch.cat([out.flatten(), totals.flatten()])))
    expected = results[0][1]
    assert not expected.isnan().any()
    for without, found in results:
        assert torch.equal(found, expected), f"differs without {without or 'nothing'}"


GRADIENTS = """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, d_ptr, dk_ptr, dv_ptr, blocks, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    k = tl.load(k_ptr + i[:, None] * D + d[None, :])
    v = tl.load(v_ptr + i[:, None] * D + d[None, :])
    dk = tl.zeros((M, D), tl.float32)
    dv = tl.zeros((M, D), tl.float32)
    for block in range(0, blocks):
        at = block * N + j
        q = tl.load(q_ptr + at[:, None] * D + d[None, :])
        p = tl.exp2(tl.dot(k, q.T) * 0.1)
        do = tl.load(d_ptr + at[:, None] * D + d[None, :])
        dv += tl.dot(p.to(do.dtype), do)
        ds = p * (tl.dot(v, do.T) - 0.5)
        dk += tl.dot(ds.to(q.dtype), q)
    tl.store(dk_ptr + i[:, None] * D + d[None, :], dk)
    tl.store(dv_ptr + i[:, None] * D + d[None, :], dv)
"""


@pytest.mark.share(4)
@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 7])
@pytest.mark.parametrize(("m", "n", "d", "warps"), [(128, 64, 64, 8), (128, 32, 128, 8)])
def test_gradients_are_the_same(m: int, n: int, d: int, warps: int, blocks: int, seed: int, tmp_path: Path) -> None:
    rng = torch.Generator().manual_seed(seed)
    k, v, q, do = (torch.randn((rows, d), generator=rng).half() * 0.5 for rows in (m, m, 7 * n, 7 * n))
    kernel = kernel_from(GRADIENTS, tmp_path)
    results = []
    for without in ("first-dot-early", "wgmma-in-flight", ""):
        for stages in (1, 3, 5):
            dk, dv = torch.full((m, d), float("nan")), torch.full((m, d), float("nan"))
            kernel[(1,)](
                q, k, v, do, dk, dv, blocks, M=m, N=n, D=d, num_warps=warps, num_stages=stages, without=without
            )
            results.append((without, stages, torch.stack([dk, dv])))
    p = torch.exp2(0.1 * (k.double() @ q[: blocks * n].double().T))
    expected = p @ do[: blocks * n].double()
    assert (results[0][2][1].double() - expected).abs().max() < 1e-2 * max(float(expected.abs().max()), 1.0)
    for without, stages, found in results:
        assert torch.equal(found, results[0][2]), f"differs without {without or 'nothing'} at {stages} stages"
