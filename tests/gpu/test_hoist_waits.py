"""Attention whose tiles are waited for early: it adds up what it adds up otherwise, bit for bit."""

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
    k_desc = tl.make_tensor_descriptor(k_ptr, [7 * N, D], [D, 1], [N, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, [7 * N, D], [D, 1], [N, D])
    acc = tl.full((M, D), 0.25, tl.float32)
    peak = tl.full((M,), -1e30, tl.float32)
    total = tl.full((M,), 0.5, tl.float32)
    for block in range(0, blocks):
        s = tl.dot(q, k_desc.load([block * N, 0]).T)
        if CAUSAL:
            s = tl.where(i[:, None] * 3 >= block * N + j[None, :], s, -1e20)
        new = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        scale = tl.exp2(peak - new)
        sums = tl.sum(p, 1)
        acc = acc * scale[:, None]
        acc = tl.dot(p.to(tl.float16), v_desc.load([block * N, 0]), acc)
        total = total * scale + sums
        peak = new
    tl.store(o_ptr + i[:, None] * D + d[None, :], acc)
    tl.store(total_ptr + i, total)
    tl.store(total_ptr + M + i, peak)
"""


@pytest.mark.share(8)
@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize(
    ("m", "n", "d", "warps"), [(64, 64, 64, 4), (128, 64, 64, 4), (64, 32, 128, 4), (128, 64, 64, 8)]
)
def test_sums_are_the_same(
    m: int, n: int, d: int, warps: int, causal: bool, blocks: int, seed: int, tmp_path: Path
) -> None:
    rng = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn((rows, d), generator=rng, dtype=torch.float32).half() for rows in (m, 7 * n, 7 * n))
    kernel = kernel_from(ATTENTION, tmp_path)
    results = []
    for without in ("hoist-waits", "first-dot-early", ""):
        for stages in (2, 3):
            out, totals = torch.full((m, d), float("nan")), torch.full((2, m), float("nan"))
            kernel[(1,)](
                q, k, v, out, totals, blocks, M=m, N=n, D=d, CAUSAL=causal,
                num_warps=warps, num_stages=stages, without=without,
            )  # fmt: skip
            results.append((without, stages, torch.cat([out.flatten(), totals.flatten()])))
    assert not results[0][2].isnan().any()
    for without, stages, found in results:
        assert torch.equal(found, results[0][2]), f"differs without {without or 'nothing'} at {stages} stages"
    assert torch.allclose(results[0][2][m * d : m * d + m], _totals(q, k[: blocks * n], causal), rtol=2e-3)


def _totals(q: torch.Tensor, k: torch.Tensor, causal: bool) -> torch.Tensor:
    """The sums of the weights of each row, in double precision."""
    scores = q.double() @ k.double().T
    if causal:
        unseen = torch.arange(len(q))[:, None] * 3 < torch.arange(len(k))[None, :]
        scores = scores.masked_fill(unseen, -1e20)
    scores = torch.cat([torch.full((len(q), 1), -1e30, dtype=torch.float64), scores], 1)
    weights = torch.exp2(scores - scores.max(1, keepdim=True).values)
    return (0.5 * weights[:, 0] + weights[:, 1:].sum(1)).float()
