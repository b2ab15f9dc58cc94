"""Descriptors of torch's tensors: those of a known kind are checked by few calls, and by the same requirements."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import tritium
from tritium.runtime import ArgumentError, TensorDescriptor
from tritium.runtime.tensor_descriptor import strides_of
from tritium.support import TritiumError

torch: Any = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def known() -> None:
    """A descriptor of every element type that the tests use."""
    for dtype in (torch.float32, torch.float16, torch.int8):
        TensorDescriptor.from_tensor(torch.zeros(16, 16, dtype=dtype), [16, 16])


def outcome(make: Callable[[], TensorDescriptor]) -> object:
    """The fields of a descriptor, or the error."""
    try:
        made = make()
    except TritiumError as error:
        return type(error), str(error)
    names = ("shape", "strides", "block_shape", "padding", "round_f32_to_tf32")
    return {name: getattr(made, name) for name in names}, made.base.data_ptr()


def tensors() -> list[Any]:
    plain = torch.zeros(8, 32, 64)
    half = torch.zeros(40, 40, dtype=torch.float16)
    return [
        plain,
        plain[1:, 3:, 4:],
        plain[..., 1:],
        plain.transpose(0, 2),
        plain.expand(4, 8, 32, 64),
        plain[:0],
        plain[0, 0],
        plain[0, 0, 0],
        plain[0, 0, 0].expand(1, 1, 1, 1, 1, 1),
        half,
        half[:, :39],
        torch.zeros(9, 9, dtype=torch.float16),
        torch.zeros(9, 16, dtype=torch.int8)[:, 1:],
        torch.empty(16, 16, device="meta"),
        torch.zeros(16, 16, dtype=torch.complex64),
        torch.nn.Parameter(plain),
    ]


def test_from_tensor_has_the_requirements_of_the_constructor() -> None:
    blocks: list[Any] = [[2, 16, 32], [16, 16], [3, 5], [0, 16], [16.0, 16], [16], [], [1 << 11, 1 << 11], [True, 16]]
    blocks += [[1 << 10, (1 << 10) - 1], [1 << 10, (1 << 10) + 1], (16, 16)]
    found = set()
    for tensor in tensors():
        for block in blocks:
            expected = outcome(lambda: TensorDescriptor(tensor, *strides_of(tensor), block, "zero", False))
            assert outcome(lambda: TensorDescriptor.from_tensor(tensor, block)) == expected, (tensor.shape, block)
            found.add(str(expected)[:60])
    assert len(found) > 15


@tritium.jit
def copy(source, target):
    target.store([0, 0], source.load([0, 0]))


def test_launches_refuse_a_descriptor_of_a_negative_view() -> None:
    """Also by a plan; `from_tensor` does not ask tensors of a known kind."""
    plain, target = torch.ones(16, 16), TensorDescriptor.from_tensor(torch.zeros(16, 16), [16, 16])
    for _ in range(4):
        copy[(1,)](TensorDescriptor.from_tensor(plain, [16, 16]), target)
    negative = TensorDescriptor.from_tensor(torch._neg_view(plain), [16, 16])
    with pytest.raises(ArgumentError, match="negative of what its memory holds"):
        copy[(1,)](negative, target)


def test_a_descriptor_of_a_known_kind_takes_few_calls() -> None:
    tensor, calls = torch.zeros(64, 64), []

    def count(frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            calls.append(frame.f_code.co_name if event == "call" else argument.__name__)

    sys.setprofile(count)
    try:
        TensorDescriptor.from_tensor(tensor, [32, 32])
    finally:
        sys.setprofile(None)
    assert len(calls) <= 9, calls
