"""Tiles of a persistent kernel in one loop: right for any number of steps, and bit for bit as in two loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from

torch = pytest.importorskip("torch")

TILES = """
@triton.jit
def kernel(a, b, c, rows, columns, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, MADE: tl.constexpr):
    i, j, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    down, across = tl.cdiv(rows, M), tl.cdiv(columns, N)
    if MADE:
        a_tiles = tl.make_tensor_descriptor(a, [rows, K], [K, 1], [M, BLOCK])
        b_tiles = tl.make_tensor_descriptor(b, [columns, K], [K, 1], [N, BLOCK])
        c_tiles = tl.make_tensor_descriptor(c, [rows, columns], [columns, 1], [M, N])
    for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), flatten=True):
        row, column = tile % down * M, tile // down * N
        acc = tl.zeros((M, N), tl.float32)
        for k in range(0, K, BLOCK):
            if MADE:
                x, y = a_tiles.load([row, k]), b_tiles.load([column, k])
            else:
                x = tl.load(a + (row + i)[:, None] * K + (k + ks)[None, :])
                y = tl.load(b + (column + j)[:, None] * K + (k + ks)[None, :])
            acc = tl.dot(x, y.T, acc)
        if MADE:
            c_tiles.store([row, column], acc.to(c.dtype.element_ty))
        else:
            tl.store(c + (row + i)[:, None] * columns + (column + j)[None, :], acc.to(c.dtype.element_ty))
"""


@pytest.mark.share(12)
@pytest.mark.parametrize("made", [False, True], ids=["pointers", "descriptors"])
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
@pytest.mark.parametrize(("programs", "down", "across", "warps"), [(1, 2, 2, 4), (2, 3, 1, 4), (3, 2, 1, 8)])
def test_tiles(
    programs: int, down: int, across: int, warps: int, steps: int, made: bool, seed: int, tmp_path: Path
) -> None:
    if made and steps == 0:
        pytest.skip("a tensor without columns has no descriptor")
    m, n, block = 128 if warps == 8 else 64, 32, 32
    rng = torch.Generator().manual_seed(seed)
    a = torch.randn((down * m, max(steps * block, 1)), generator=rng).half()
    b = torch.randn((across * n, max(steps * block, 1)), generator=rng).half()
    kernel = kernel_from(TILES, tmp_path)
    results = []
    for without in ("flatten,accumulator-init", "accumulator-init", "wgmma-in-flight", "tma-store-in-flight", ""):
        for stages in (1, 3, 4):
            c = torch.full((down * m, across * n), float("nan")).half()
            kernel[(programs,)](
                a, b, c, down * m, across * n, steps * block, M=m, N=n, BLOCK=block, MADE=made,
                num_warps=warps, num_stages=stages, without=without,
            )  # fmt: skip
            results.append((without, stages, c))
    expected = (a.float() @ b.float().T) if steps else torch.zeros(down * m, across * n)
    assert (results[0][2].float() - expected).abs().max() < 0.05
    for without, stages, c in results:
        assert torch.equal(c, results[0][2]), f"differs without {without or 'nothing'} at {stages} stages"
