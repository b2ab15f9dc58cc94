"""Products whose loads have a warp of their own, by one block and by clusters that share what they load; each means of
speed on and off; and products of clusters by pointers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.conversion.ttg_to_llvm.harness import aligned


@tritium.jit
def by_descriptors(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr,
    PROGRAMS: tl.constexpr, TURNED: tl.constexpr,
):  # fmt: skip
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K] if TURNED else [K, N], [K, 1] if TURNED else [N, 1],
                                       [BN, BK] if TURNED else [BK, BN])  # fmt: skip
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, PROGRAMS, warp_specialize=WS):
        row, column = tile // columns * BM, tile % columns * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            a = a_desc.load([row, k])
            b = b_desc.load([column, k]).T if TURNED else b_desc.load([k, column])
            total = tl.dot(a, b, total)
        c_desc.store([row, column], total.to(tl.float16))


@tritium.jit
def by_pointers(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    i, j, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + i[:, None] * K + (k + ks)[None, :], mask=(k + ks)[None, :] < K, other=0)
        b = tl.load(b_ptr + (k + ks)[:, None] * N + j[None, :], mask=(k + ks)[:, None] < K, other=0)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + i[:, None] * N + j[None, :], total)


def numbers(*shape: int) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    return aligned(rng.integers(-3, 4, shape).astype(np.float16), 128)  # small integers: sums are exact


CASES = [
    # M, N, K, BM, BN, BK, warps, blocks, stages, turned
    (256, 256, 192, 128, 128, 64, 4, 1, 3, True),
    (256, 256, 192, 128, 128, 64, 8, 1, 3, False),
    (200, 280, 136, 128, 256, 64, 8, 1, 2, True),
    (256, 512, 320, 128, 256, 64, 4, 2, 3, True),
    (256, 256, 192, 128, 128, 64, 8, 2, 4, False),
    (512, 512, 320, 256, 128, 64, 8, 2, 3, True),
    (300, 504, 136, 256, 256, 64, 8, 2, 3, True),
    (256, 256, 0, 128, 128, 64, 4, 2, 3, True),
    (256, 256, 64, 256, 256, 64, 8, 4, 2, True),
]
WITHOUT = ["", "multicast", "register-reallocation", "warp-specialization", "wgmma-in-flight", "tma", "wgmma"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: "x".join(map(str, c)))
@pytest.mark.parametrize("without", WITHOUT)
@pytest.mark.share(9)
def test_loads_by_a_warp_of_their_own(case: Any, without: str) -> None:
    m, n, k, bm, bn, bk, warps, ctas, stages, turned = case
    a, b = numbers(m, max(k, 8)), numbers(*((n, max(k, 8)) if turned else (max(k, 8), n)))
    c = aligned(np.full((m, n), 7, np.float16), 128)
    by_descriptors[(3,)](
        a, b, c, m, n, k, bm, bn, bk, True, 3, turned, num_warps=warps, num_ctas=ctas, num_stages=stages,
        without=without,
    )  # fmt: skip
    a, b = a[:, :k].astype(np.float32), (b.T if turned else b)[:k].astype(np.float32)
    if k:  # the descriptors of nothing are made of what is there
        np.testing.assert_array_equal(c, (a @ b).astype(np.float16))
    else:
        assert not c.any()


@pytest.mark.parametrize("m,n,bk", [(128, 128, 64), (64, 256, 32), (256, 64, 64), (128, 32, 64)])
@pytest.mark.parametrize("warps,ctas", [(4, 2), (8, 2), (4, 4)])
@pytest.mark.parametrize("stages", [1, 3])
def test_products_of_clusters(m: int, n: int, bk: int, warps: int, ctas: int, stages: int) -> None:
    k = 136
    a, b, c = numbers(m, k), numbers(k, n), np.zeros((m, n), np.float32)
    by_pointers[(2,)](a, b, c, k, m, n, bk, num_warps=warps, num_ctas=ctas, num_stages=stages)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
