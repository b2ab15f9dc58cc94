"""`warp_specialize=True` gives what the loop without it gives (triton#8311)."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.reliability.emulated import gpu, tile


@tritium.jit
def attend(q, k, v, o, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, WS: tl.constexpr):
    rows = tl.arange(0, M)
    queries = q.load([0, 0])
    acc = tl.zeros((M, D), tl.float32)
    total = tl.zeros((M,), tl.float32)
    for first in tl.range(0, n, N, warp_specialize=WS):
        scores = tl.dot(queries, k.load([first, 0]).T)
        if CAUSAL:
            scores = tl.where(rows[:, None] >= first + tl.arange(0, N)[None, :], scores, 0.0)
        total += tl.sum(scores, 1)
        acc = tl.dot(scores.to(tl.float16), v.load([first, 0]), acc)
    o.store([0, 0], (acc + total[:, None]).to(tl.float16))


@pytest.mark.sample(2)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("warps, stages", [(4, 2), (4, 3), (8, 2)])
def test_two_products_and_a_mask(causal: bool, warps: int, stages: int) -> None:
    m = 64 if warps == 4 else 128
    (q, q_map), (k, k_map), (v, v_map) = (tile(s, b, i) for i, (s, b) in enumerate(_shapes(m)))
    scores = np.tril(q @ k.T.astype(np.float32)) if causal else q @ k.T.astype(np.float32)
    wanted = (scores @ v + scores.sum(1, keepdims=True)).astype(np.float16)
    with gpu():
        for specialize in (False, True):
            o, o_map = tile((m, 32), [m, 32])
            options = {"num_warps": warps, "num_stages": stages}
            attend[(1,)](q_map, k_map, v_map, o_map, 128, m, 32, 32, CAUSAL=causal, WS=specialize, **options)
            np.testing.assert_array_equal(o, wanted, err_msg=f"warp_specialize={specialize}")


def _shapes(m: int) -> list[tuple[tuple[int, int], list[int]]]:
    return [((m, 32), [m, 32]), ((128, 32), [32, 32]), ((128, 32), [32, 32])]
