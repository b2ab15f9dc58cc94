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
