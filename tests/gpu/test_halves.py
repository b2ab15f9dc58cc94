"""Numbers of 16 bits: bits of floats that are held between two constants, read without sign, and in order; running sums
across warps, which are choices among those of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from

torch = pytest.importorskip("torch")

KERNEL = """
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, LOW: tl.constexpr, HIGH: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.maximum(tl.minimum(tl.load(x_ptr + at), HIGH), LOW).to(x_ptr.dtype.element_ty)
    tl.store(y_ptr + at, x)
    bits = x.to(tl.uint16, bitcast=True)
    tl.store(out_ptr + at, bits.to(tl.int32))
    tl.store(out_ptr + N + at, (bits >> 3).to(tl.int32))
    tl.store(out_ptr + 2 * N + at, (bits > 0x4400).to(tl.int32))
    tl.store(out_ptr + 3 * N + at, (bits // 7).to(tl.int32))
    tl.store(out_ptr + 4 * N + at, bits.to(tl.float32).to(tl.int32))
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("low", "high"), [(-100.0, 100.0), (0.0, 100.0), (-3.0, 0.0), (0.0, 1.0), (0.5, 6.0)])
def test_bits_of_a_clamped_number(dtype: torch.dtype, low: float, high: float, seed: int, tmp_path: Path) -> None:
    kernel = kernel_from(KERNEL, tmp_path)
    n = 1024
    x = (torch.randn(n, generator=torch.Generator().manual_seed(seed)) * 80).to(dtype)
    y, out = torch.zeros(n, dtype=dtype), torch.full((5, n), -7, dtype=torch.int32)
    kernel[(1,)](x, y, out, low, high, n)
    assert torch.equal(y, x.clamp(low, high))
    bits = y.view(torch.int16).int() & 0xFFFF
    wanted = torch.stack([bits, bits >> 3, (bits > 0x4400).int(), bits // 7, bits])
    assert torch.equal(out, wanted)


SORTED = """
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.minimum(tl.maximum(tl.load(x_ptr + at), 0.0), 100.0)
    tl.store(y_ptr + at, x)
    tl.store(out_ptr + at, tl.sort(x))
"""


@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_clamped_numbers_in_order(dtype: torch.dtype, ctas: int, seed: int, tmp_path: Path) -> None:
    kernel = kernel_from(SORTED, tmp_path)
    x = (torch.randn(512, generator=torch.Generator().manual_seed(seed)) * 80).to(dtype)
    x[::9] = float("nan")  # which is none any more behind the extremes
    y, out = torch.zeros_like(x), torch.zeros_like(x)
    kernel[(1,)](x, y, out, 512, num_ctas=ctas)
    assert torch.equal(out, y.sort().values)


SUMS = """
@triton.jit
def kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr, REVERSE: tl.constexpr):
    a, b = tl.arange(0, A)[:, None, None, None], tl.arange(0, B)[None, :, None, None]
    c, d = tl.arange(0, C)[None, None, :, None], tl.arange(0, D)[None, None, None, :]
    at = a + c * A + b * (A * C) + d * (A * B * C)
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), 2, reverse=REVERSE))
"""


@pytest.mark.parametrize("warps", [2, 4, 8])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int16], ids=str)
@pytest.mark.parametrize("shape", [(2, 2, 16, 16), (1, 4, 32, 8), (4, 1, 16, 8)])
def test_running_sums_across_warps(
    shape: tuple[int, ...], dtype: torch.dtype, reverse: bool, warps: int, seed: int, tmp_path: Path
) -> None:
    kernel = kernel_from(SUMS, tmp_path)
    a, b, c, d = shape
    x = torch.randint(-3, 4, (d, b, c, a), generator=torch.Generator().manual_seed(seed)).to(dtype)
    out = torch.zeros_like(x)
    kernel[(1,)](x, out, *shape, reverse, num_warps=warps)
    ahead = x.float().flip(2) if reverse else x.float()
    sums = ahead.cumsum(2)
    assert torch.equal(out.float(), sums.flip(2) if reverse else sums)


SIGNS = """
@triton.jit
def kernel(x_ptr, k_ptr, abs_ptr, double_ptr, difference_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    rounded = tl.cast(x, tl.bfloat16, fp_downcast_rounding="rtz")
    tl.store(abs_ptr + at, tl.abs(rounded))
    tl.store(double_ptr + at, tl.abs(rounded).to(tl.float64))
    k = tl.load(k_ptr + at)
    tl.store(difference_ptr + at, tl.umulhi(k, k).to(tl.int64) - (k % 3).to(tl.int64))
"""


@pytest.mark.parametrize("n", [32, 256, 1024])
def test_signs_and_carries(n: int, seed: int, tmp_path: Path) -> None:
    """Absolute values of what was rounded, and differences of 64 bits from the upper half of a product."""
    kernel = kernel_from(SIGNS, tmp_path)
    rng = torch.Generator().manual_seed(seed)
    x = torch.randint(-64, 65, (n,), generator=rng).float() / 4
    k = torch.randint(0, 2**31 - 1, (n,), generator=rng, dtype=torch.int32)
    magnitude, double = torch.zeros(n, dtype=torch.bfloat16), torch.zeros(n, dtype=torch.float64)
    difference = torch.zeros(n, dtype=torch.int64)
    kernel[(1,)](x, k, magnitude, double, difference, n)
    assert torch.equal(magnitude.double(), x.abs().double()) and torch.equal(double, x.abs().double())
    assert torch.equal(difference, (k.long() * k.long() >> 32) - k.long() % 3)
