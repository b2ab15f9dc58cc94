"""Programs that compute several tiles, of grids of one to three dimensions: the bits of one tile a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.harness import aligned
from tests.e2e.test_persistent_programs import (
    B,
    in_place_epilogue,
    masked_programs,
    rows_and_columns,
    second_dimension,
    split_sums,
    three_dimensions,
    triangular,
    two_loops,
)
from tests.e2e.test_raised_loads import wrapped


@pytest.mark.share(64)
@pytest.mark.parametrize(
    "kernel",
    [
        rows_and_columns,
        second_dimension,
        three_dimensions,
        split_sums,
        in_place_epilogue,
        masked_programs,
        triangular,
        two_loops,
    ],
)
@pytest.mark.parametrize("warps", [4, 8])
def test_programs_compute_the_bits_of_their_tiles(seed: int, device: str, kernel: Any, warps: int) -> None:
    """More tiles than SMs: 13 x 13."""
    n, K = 13 if device == "cuda" else 3, 72
    rng = np.random.default_rng(seed)
    a, b = (aligned(rng.integers(-8, 8, shape).astype(np.float16), 128) for shape in ((n * B, K), (K, n * B)))
    scales = aligned(rng.normal(size=64).astype(np.float32), 128)
    grid = {second_dimension: (1, n * n), three_dimensions: (1, n, n), split_sums: (n, n, 2)}.get(kernel, (n, n))
    found = []
    for persistent in (False, True, True):
        c = aligned(np.zeros((n * B, n * B), np.float32), 128)
        ran = kernel[grid](a, b, c, scales, n * B, K, B, num_warps=warps, persistent=persistent)
        assert bool(ran.metadata.persistent_grid) is persistent
        found.append(c.view(np.uint32))
    assert all((bits == found[0]).all() for bits in found[1:]) and found[0].any()


def test_launches_of_more_tiles_than_sms_are_persistent_by_default(seed: int, device: str) -> None:
    if device != "cuda":
        pytest.skip("too many tiles for an emulator")
    rng = np.random.default_rng(seed)
    BM, BN, BK, K = 128, 256, 64, 136
    for rows, columns, persistent in ((12, 12, True), (11, 12, False), (12, 13, True), (17, 17, True)):
        M, N = rows * BM, columns * BN
        a, b = (aligned(rng.normal(size=shape).astype(np.float16), 128) for shape in ((M, K), (K, N)))
        found = []
        for options in ({"persistent": False}, {}, {}, {}):
            c = aligned(np.full((M, N), 7, np.float32), 128)
            ran = wrapped[(rows * columns,)](a, b, c, M, N, K, K, 1, N, 1, N, BM, BN, BK, num_warps=8, **options)
            found.append(c.view(np.uint32))
        assert bool(ran.metadata.persistent_grid) is persistent
        assert all((bits == found[0]).all() for bits in found[1:])
