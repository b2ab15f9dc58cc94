"""The examples beyond the first five tutorials, on the CPU, against PyTorch in float64.

Tolerances are multiples of the unit of the dtype that what is stored was rounded to, of values of order one.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tests.example_kernels import load  # noqa: E402

pytestmark = pytest.mark.torch

UNIT = {torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}


def assert_near(found: torch.Tensor, expected: torch.Tensor, units: float) -> None:
    """At most `units` units of the dtype of `found` apart, relative to the greatest value (at least 1)."""
    error = (found.double() - expected.double()).abs().max().item()
    scale = max(1.0, expected.abs().max().item())
    assert error <= units * UNIT[found.dtype] * scale, f"error {error:.3g}"


# ---- attention -----------------------------------------------------------------------------------------------------

attention = load("attention")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n_ctx", [1, 31, 128, 200])
def test_attention(dtype: torch.dtype, causal: bool, n_ctx: int) -> None:
    torch.manual_seed(n_ctx)
    q, k, v, d_out = (torch.randn(1, 2, n_ctx, 32).to(dtype) for _ in range(4))
    out, logsum = attention.forward(q, k, v, causal)
    wide = [x.double().requires_grad_() for x in (q, k, v)]
    expected = attention.reference(*wide, causal, 32**-0.5)
    assert_near(out, expected, 16 if dtype is torch.float32 else 4)
    gradients = attention.backward(q, k, v, out, logsum, d_out, causal)
    expected.backward(d_out.double())
    for found, reference in zip(gradients, wide):
        assert_near(found, reference.grad, 32 if dtype is torch.float32 else 8)


def test_attention_blocks_of_keys_longer_than_blocks_of_queries() -> None:
    torch.manual_seed(7)
    q, k, v = (torch.randn(1, 1, 96, 16) for _ in range(3))
    for causal in (False, True):
        out, _ = attention.forward(q, k, v, causal, block_m=16, block_n=64)
        assert_near(out, attention.reference(q.double(), k.double(), v.double(), causal, 0.25), 16)


# ---- matrix products -----------------------------------------------------------------------------------------------

grouped, persistent = load("grouped_matmul"), load("persistent_matmul")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("programs", [1, 5])
def test_grouped_matmul(dtype: torch.dtype, programs: int) -> None:
    torch.manual_seed(programs)
    sizes = ((64, 64, 32), (1, 130, 7), (100, 3, 65), (130, 70, 40))
    pairs = [(torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)) for m, n, k in sizes]
    pairs.append((torch.randn(40, 90)[:, :50].to(dtype), torch.randn(50, 30).to(dtype)))  # rows with a gap
    for (a, b), c in zip(pairs, grouped.grouped_matmul(pairs, programs)):
        assert_near(c, a.double() @ b.double(), 16)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 32), (200, 136, 72), (8, 320, 8)])
def test_persistent_matmul(dtype: torch.dtype, m: int, n: int, k: int) -> None:
    torch.manual_seed(m)
    a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
    expected, transposed = a.double() @ b.double(), b.T.contiguous()
    assert_near(persistent.matmul_persistent(a, b, 3), expected, 16)
    for halves in (False, True):
        assert_near(persistent.matmul_descriptors(a, transposed, 3, halves), expected, 16)
    assert_near(persistent.matmul_host_descriptors(a, transposed), expected, 16)


# ---- the device library, launches that overlap ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_library_functions(dtype: torch.dtype) -> None:
    library = load("library_functions")
    x = torch.linspace(-1, 1, 3001).to(dtype)
    found = library.asin(x)
    assert (found.double() - torch.asin(x.double())).abs().max() <= (2e-7 if dtype is torch.float32 else 1e-15)
    for exact in (True, False):
        y = torch.nn.functional.gelu(x.double() * 4, approximate="none" if exact else "tanh")
        assert_near(library.gelu((x * 4).float(), exact), y, 8)


def test_dependent_launch() -> None:
    x, z = torch.rand(5000), torch.rand(5000)
    for overlap in (False, True):
        assert torch.equal(load("dependent_launch").scaled_sum(x, z, 2.0, overlap), x + 2 * z)


# ---- block-scaled products -----------------------------------------------------------------------------------------

scaled = load("block_scaled_matmul")


@pytest.mark.parametrize("b_format", ["e4m3", "e5m2", "e2m1"])
@pytest.mark.parametrize("a_format", ["e4m3", "e2m1"])
def test_block_scaled_matmul(a_format: str, b_format: str) -> None:
    torch.manual_seed(1)
    x, y = torch.randn(128, 256) * 3, torch.randn(64, 256)
    (a, a_scale, a_exact), (b, b_scale, b_exact) = scaled.quantize(x, a_format), scaled.quantize(y, b_format)
    c = scaled.block_scaled_matmul(a, a_scale, a_format, b, b_scale, b_format)
    assert_near(c, a_exact.double() @ b_exact.double().T, 16)


def test_scales_of_8_bit_floats_for_16_neighbours() -> None:
    torch.manual_seed(2)
    codes = torch.randint(0, 16, (2, 64, 128))
    scales = (torch.rand(2, 64, 8) * 4 + 0.1).to(torch.float8_e4m3fn)
    packed = (codes[..., ::2] | codes[..., 1::2] << 4).to(torch.uint8)
    exact = torch.tensor(scaled.FOUR_BITS)[codes] * scales.float().repeat_interleave(16, -1)
    c = scaled.block_scaled_matmul(packed[0], scales[0], "e2m1", packed[1], scales[1], "e2m1", group=16)
    assert_near(c, exact[0].double() @ exact[1].double().T, 16)


def test_scales_at_the_ends_of_their_range() -> None:
    """0 is 2^-127, 255 is NaN; the rest of the row and column stays what it is."""
    ones = torch.ones(64, 64).to(torch.float8_e4m3fn)
    scales = torch.full((64, 2), 127, dtype=torch.uint8)
    small, spoilt, large = scales.clone(), scales.clone(), scales.clone()
    small[:, :] = 0
    spoilt[3, 1] = 255
    large[:, :] = 254
    multiply = lambda s, t: scaled.block_scaled_matmul(ones, s, "e4m3", ones, t, "e4m3", blocks=(64, 64, 64))  # noqa: E731
    assert torch.equal(multiply(small, large), torch.full((64, 64), 2.0**-127 * 64 * 2.0**127))
    assert torch.equal(multiply(small, scales), torch.full((64, 64), 64 * 2.0**-127))
    spoilt_row = multiply(spoilt, scales)
    assert torch.isnan(spoilt_row[3]).all() and spoilt_row.isnan().sum() == 64
    assert (multiply(scales, spoilt)[:, 3]).isnan().all()
