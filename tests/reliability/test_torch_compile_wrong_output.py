"""`torch.compile` around a kernel of the user's gives what it gives without (pytorch#136550)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tritium.runtime.fastpath.preparation import preparation

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@tritium.jit
def gated(x, y, o, n, row, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    place = at // row * row + at % row
    tl.store(o + place, tl.load(x + place, mask=mask) * tl.sigmoid(tl.load(y + place, mask=mask)), mask=mask)
    tl.store(y + place, 0.0, mask=mask)  # which the graph must see


def model(x: Any, y: Any) -> Any:
    o = torch.empty_like(x)
    y = y * 2
    gated[(tritium.cdiv(x.numel(), 64),)](x, y, o, x.numel(), x.shape[1], B=64)
    return o + y, y


@pytest.fixture
def forgetful_torch() -> Iterator[None]:
    """PyTorch remembers whether there is a Triton."""
    yield
    for function in vars(torch.utils._triton).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.mark.usefixtures("forgetful_torch", "triton_alias")
def test_a_kernel_in_a_compiled_function() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    x, y = torch.randn(7, 33), torch.randn(7, 33)
    wanted = x * torch.sigmoid(y * 2)
    got, after = torch.compile(model, backend="aot_eager")(x, y)
    torch.testing.assert_close(got, wanted)
    assert (after == 0).all()


@pytest.mark.parametrize("launched_before", [False, True], ids=["first launch is traced", "launched before"])
def test_kernel_whose_launch_is_traced(monkeypatch, launched_before: bool) -> None:
    """PyTorch's compiler traces launches of kernels that it does not know as such; it can trace no native code."""
    monkeypatch.setattr("torch.utils._triton.has_triton", lambda: False)
    preparation.wait()
    torch._dynamo.reset()
    torch.manual_seed(0)
    x, y = torch.randn(7, 33), torch.randn(7, 33)
    wanted = x * torch.sigmoid(y * 2)
    kernel = tritium.jit(gated.fn)

    def model(x: Any, y: Any) -> Any:
        o = torch.empty_like(x)
        y = y * 2
        kernel[(tritium.cdiv(x.numel(), 64),)](x, y, o, x.numel(), x.shape[1], B=64)
        return o + y, y

    for _ in range(3 * launched_before):
        model(x, y)
    compiled = torch.compile(model, backend="aot_eager")
    for _ in range(3):
        got, after = compiled(x, y)
        torch.testing.assert_close(got, wanted)
        assert (after == 0).all()
