"""Results of products, stored by the warps that have them: what else is there stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from

torch = pytest.importorskip("torch")

PRODUCT = """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, rows, columns, stride, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        a = tl.load(a_ptr + i[:, None] * K + k[None, :] + step * M * K)
        b = tl.load(b_ptr + k[:, None] * N + j[None, :] + step * K * N)
        acc = tl.dot(a, b, acc)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    tl.store(c_ptr + i[:, None] * stride + j[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask)
"""


@pytest.mark.share(6)
@pytest.mark.parametrize("out", [torch.float16, torch.float32, torch.bfloat16, torch.int8], ids=str)
@pytest.mark.parametrize(("rows", "columns", "stride"), [(1000, 1000, 256), (61, 93, 269), (1, 1, 300), (64, 120, 272)])
@pytest.mark.parametrize(
    ("m", "n", "warps"),
    [(64, 128, 4), (128, 256, 8), (64, 256, 8), (128, 64, 4), (128, 32, 4), (32, 64, 2), (16, 256, 4)],
)
def test_what_is_stored(
    m: int, n: int, warps: int, rows: int, columns: int, stride: int, out: torch.dtype, seed: int, tmp_path: Path
) -> None:
    kernel = kernel_from(PRODUCT, tmp_path)
    rng = torch.Generator().manual_seed(seed)
    a, b = (torch.randint(-3, 4, size, generator=rng).half() for size in ((2, m, 32), (2, 32, n)))
    expected = torch.full((m, stride), 77, dtype=out)
    there = torch.zeros((m, stride), dtype=torch.bool)
    there[:rows, : min(columns, n)] = True
    product = torch.zeros((m, stride), dtype=torch.float64)
    product[:, :n] = (a.double() @ b.double()).sum(0)
    expected[there] = product[there].clamp(-128, 127).to(out) if out is torch.int8 else product[there].to(out)
    for without in ("store-mma-rows-per-warp", ""):
        c = torch.full((m, stride), 77, dtype=out)
        kernel[(1,)](a, b, c, rows, columns, stride, 2, M=m, N=n, K=32, num_warps=warps, without=without)
        if out is torch.int8:  # what is no int8 is anybody's guess
            fits = there & (product.abs() < 128)
            c[there & ~fits] = expected[there & ~fits] = 0
        assert torch.equal(c, expected), f"without {without or 'nothing'}"
