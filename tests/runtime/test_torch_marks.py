"""Tensors of torch that are the negative or the conjugate of what their memory holds are refused by every launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.e2e.kernels import kernel_from
from tritium.runtime import driver, torch_abi
from tritium.runtime.arrays import torch_address
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.errors import ArgumentError
from tritium.runtime.torch_layout import find_marks
from tritium.support import settings
from tritium.tools.tensor_descriptor import TensorDescriptor

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

N = 16
KEPT: list[dict[type, Any]] = []  # of which plans know the addresses
KERNEL = """
@triton.jit
def kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at))
"""


@tritium.jit
def copy(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at))


@tritium.jit
def copy_by_descriptor(x, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), x.load([0]))


def negated() -> Any:
    """A view that torch shows as the negative of its memory."""
    return torch.arange(2 * N, dtype=torch.float32).view(torch.complex64).conj().imag.as_strided((N,), (1,))


@pytest.fixture(params=["cpu", "emulated", "interpreted"])
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "interpreted":
        with settings.runtime.scope():
            settings.runtime.interpret = True
            yield request.param
        return
    if request.param == "emulated":
        driver.set_active(EmulatedCUDADriver(capability=90))
    yield request.param
    driver.reset_active()


@pytest.mark.parametrize("before", [0, 8])
def test_launches_refuse_negated_tensors(target: str, before: int) -> None:
    """After `before` launches with others, which native code carries out by then."""
    check_launches(copy[(1,)], before)


def check_launches(launch: Callable[..., Any], before: int) -> None:
    x, out = torch.arange(N, dtype=torch.float32), torch.zeros(N)
    for _ in range(before):
        launch(x, out, N)
    for _ in range(2):
        with pytest.raises(ArgumentError, match=r"argument 'x': .*\n[\s\S]*resolve_neg"):
            launch(negated(), out, N)
        with pytest.raises(ArgumentError, match=r"argument 'out': [\s\S]*resolve_neg"):
            launch(x, torch._neg_view(out), N)
        launch(negated().resolve_neg(), out, N)
        assert torch.equal(out, negated())
        with pytest.raises(ArgumentError, match="resolve_conj"):
            launch(torch.zeros(N, dtype=torch.complex64).conj(), out, N)


@pytest.mark.parametrize("before", [0, 8])
def test_launches_refuse_descriptors_of_negated_tensors(target: str, before: int) -> None:
    out = torch.zeros(N)
    launch = copy_by_descriptor[(1,)]

    def described(base: Any) -> TensorDescriptor:
        return TensorDescriptor(base, [N], [1], [N])

    for _ in range(before):
        launch(described(torch.zeros(N)), out, N)
    with pytest.raises(ArgumentError, match="resolve_neg"):
        launch(described(negated()), out, N)


def test_reinterpreted_negated_tensors_are_refused() -> None:
    out = torch.zeros(N, dtype=torch.int32)
    launch = copy[(1,)]
    for _ in range(8):
        launch(tritium.reinterpret(torch.zeros(N), tl.int32), out, N)
    with pytest.raises(ArgumentError, match="resolve_neg"):
        launch(tritium.reinterpret(negated(), tl.int32), out, N)


def test_warmup_refuses_negated_tensors() -> None:
    with pytest.raises(ArgumentError, match="resolve_neg"):
        copy.warmup(negated(), torch.zeros(N), N, grid=(1,))


@pytest.mark.parametrize(
    "unknown",
    [("find_layout", lambda look_at: None), ("find_marks", lambda: None), ("_NAMES", ("no_such_function",))],
    ids=lambda pair: pair[0],
)
def test_negated_tensors_are_refused_where_torch_is_laid_out_otherwise(
    unknown: tuple[str, Callable[..., Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found: dict[type, Any] = {}
    KEPT.append(found)
    monkeypatch.setattr(torch_abi, "_known", found)
    monkeypatch.setattr(torch_abi, *unknown)
    check_launches(kernel_from(KERNEL, tmp_path)[(1,)], 8)


def test_marks_are_found_and_tell_views_apart() -> None:
    marks = find_marks()
    assert marks is not None and marks.bits.bit_count() == 2
    x, z = torch.zeros(4), torch.zeros(4, dtype=torch.complex64)
    assert [torch_address(t) for t in (torch._neg_view(x), z.conj())] == [None, None]
    assert torch_address(torch._neg_view(torch._neg_view(x))) == x.data_ptr()
    assert torch_address(z.conj().conj()) == z.data_ptr()
