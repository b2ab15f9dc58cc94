"""Loads raised to TMA, and programs that compute several tiles: the bits of the kernels by pointers, over several launches
of both versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium
from tests.conversion.ttg_to_llvm.harness import aligned
from tests.e2e.test_raised_loads import masked, persistent, wrapped


def operands(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Random values, at multiples of 128 bytes."""
    return tuple(aligned(rng.normal(size=shape).astype(np.float16), 128) for shape in ((M, K), (K, N)))  # type: ignore[return-value]


@pytest.mark.share(64)
@pytest.mark.parametrize("kernel", [wrapped, masked, persistent])
@pytest.mark.parametrize("options", [{"raise_loads": True}, {"persistent": True}, {}], ids=["raised", "persistent", ""])
@pytest.mark.parametrize(("tile", "warps"), [((64, 64, 32), 4), ((128, 128, 64), 8), ((128, 256, 64), 8)])
def test_versions_compute_the_same_bits(
    seed: int, kernel: Any, options: dict[str, Any], tile: tuple[int, int, int], warps: int
) -> None:
    rng = np.random.default_rng(seed)
    BM, BN, BK = tile
    for M, N, K in ((2 * BM, 3 * BN, 3 * BK + 8), (2 * BM, 3 * BN, BK), (2 * BM - 8, BN, 2 * BK), (BM, BN, 5 * BK)):
        a, b = operands(rng, M, N, K)
        tiles = tritium.cdiv(M, BM) * tritium.cdiv(N, BN)
        grid = (2,) if kernel is persistent else (tiles,)
        found = []
        for chosen in ({"without": "raise-loads"}, options, options, options):
            c = aligned(np.full((M, N), 7, np.float32), 128)
            kernel[grid](a, b, c, M, N, K, K, 1, N, 1, N, BM, BN, BK, num_warps=warps, **chosen)
            found.append(c.view(np.uint32))
        assert all((bits == found[0]).all() for bits in found[1:])
