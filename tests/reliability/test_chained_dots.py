"""A product of products is the same for every number of warps and stages, on every chip (triton#2499)."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.reliability.emulated import gpu


@tritium.jit
def chain(a, b, c, o, n, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    k = tl.arange(0, N)[:, None]
    total = tl.zeros((M, N), tl.float32)
    for step in range(n):
        x = tl.dot(tl.load(a + i * N + j), tl.load(b + step * N * N + k * N + j))
        total += tl.dot(x.to(tl.float16), tl.load(c + k * N + j))
    tl.store(o + i * N + j, total)


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("warps", [1, 2, 4, 8])
def test_every_number_of_warps(capability: int, warps: int) -> None:
    rng = np.random.default_rng(warps)
    a = rng.integers(-2, 3, (64, 32)).astype(np.float16)
    b, c = rng.integers(-2, 3, (3, 32, 32)).astype(np.float16), rng.integers(-2, 3, (32, 32)).astype(np.float16)
    wanted = sum(a.astype(np.float32) @ b[s] @ c for s in range(3))
    with gpu(capability):
        for stages in (1, 3):
            o = np.full((64, 32), np.nan, np.float32)
            chain[(1,)](a, b, c, o, 3, 64, 32, num_warps=warps, num_stages=stages)
            np.testing.assert_array_equal(o, wanted, err_msg=f"num_stages={stages}")
