"""Launches with host descriptors by the fast path: native code reads all their fields at each launch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.runtime.test_fastpath import Slow, storing, words
from tritium.runtime import ArgumentError, TensorDescriptor
from tritium.runtime.fastpath.descriptors import DescriptorMemo
from tritium.runtime.fastpath.fields import DESCRIPTORS
from tritium.runtime.fastpath.native import native_fastpath

pytestmark = pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")


@pytest.fixture(params=["quick", "optimized"], autouse=True)
def code(request: pytest.FixtureRequest) -> str:
    """Which code of the fast path tests run (see `conftest`)."""
    return str(request.param)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    return Slow(monkeypatch)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """A function that returns for how many descriptors a call asks Python for the parameters."""
    count = 0
    original = DescriptorMemo.__call__

    def counted(self: DescriptorMemo, descriptor: TensorDescriptor) -> bytes | None:
        nonlocal count
        count += 1
        return original(self, descriptor)

    def during(call: Callable[[], object]) -> int:
        before = count
        call()
        return count - before

    monkeypatch.setattr(DescriptorMemo, "__call__", counted)
    return during


@pytest.fixture
def described(compiled: Any) -> Any:
    def described(out, a, b):
        pass

    return storing(described, 11)


def test_descriptors_are_packed_by_their_values(described: Any, slow: Slow) -> None:
    kernel, out = described, np.zeros(16, np.int64)
    x, y = (np.zeros((64, 32), np.float32) for _ in range(2))

    def launch(array: Any, rows: int = 64, block: int = 16, columns: int = 32, padding: str = "zero") -> int:
        descriptors = [TensorDescriptor(a, [rows, columns], [32, 1], [block, 16], padding) for a in (array, y)]
        count = slow.during(lambda: kernel[(1,)](out, *descriptors), 1)
        expected = [[a.ctypes.data, rows, columns, 32, 1] for a in (array, y)]
        assert words(out)[:11] == [out.ctypes.data, *expected[0], *expected[1]]
        return count

    assert [launch(x) for _ in range(4)] == [1, 1, 0, 0]
    assert launch(y) == launch(x, rows=48) == 0  # other values of the same kind
    assert launch(x, block=32) == launch(x, columns=31) == launch(x, padding="nan") == 1  # other kernels
    assert launch(x.view(np.int32)) == 1
    kept = TensorDescriptor.from_tensor(x, [16, 16])
    assert slow.during(lambda: kernel[(1,)](out, kept, kept), 1) == 0
    kept.shape[0], kept.base = 8, y  # it is looked at anew at each launch
    assert slow.during(lambda: kernel[(1,)](out, kept, kept), 1) == 0
    assert words(out)[1:6] == [y.ctypes.data, 8, 32, 32, 1]
    kept.block_shape[0] = 32
    assert slow.during(lambda: kernel[(1,)](out, kept, kept), 1) == 1
    kept.shape[0] = 1 << 70
    with pytest.raises(ArgumentError):
        kernel[(1,)](out, kept, kept)


def test_known_descriptors_are_read_by_native_code(described: Any, asked: Callable[..., int]) -> None:
    out, x, y = np.zeros(16, np.int64), *(np.zeros((1 << 11, 32), np.float32) for _ in range(2))
    a, b = (TensorDescriptor.from_tensor(array, [16, 16]) for array in (x, y))

    def launch() -> int:
        count = asked(lambda: described[(1,)](out, a, b))
        expected = [[d.base.ctypes.data, *d.shape, *d.strides] for d in (a, b)]
        assert words(out)[:11] == [out.ctypes.data, *expected[0], *expected[1]]
        return count

    for _ in range(3):
        launch()
    assert launch() == 0
    a.shape[0] = 48
    assert (launch(), launch()) == (1, 0)
    a.shape[0] = 1 << 11  # the former one is still known
    assert launch() == 0
    a.strides = (64, 1)
    b.shape = (1 << 10, 32)
    assert (launch(), launch()) == (2, 0)
    a.base = y
    assert (launch(), launch()) == (1, 0)
    a.shape = [np.int64(40), np.int64(32)]  # no integers of Python's own
    assert (launch(), launch()) == (1, 1)
    a = TensorDescriptor(x, [1 << 11, 32], [32, 1], [16, 16])  # equal to one before
    b = TensorDescriptor(y, [1 << 11, 32], [32, 1], [16, 16])
    assert launch() <= 2 and launch() == 0


def test_launches_with_known_descriptors_keep_references(described: Any, asked: Callable[..., int]) -> None:
    out, x = np.zeros(16, np.int64), np.zeros((1 << 11, 32), np.float32)
    d = TensorDescriptor.from_tensor(x, [16, 16])
    for _ in range(3):
        described[(1,)](out, d, d)
    objects = d, x, d.shape, d.strides, d.block_shape, d.shape[0]
    before = [*map(sys.getrefcount, objects)]
    assert asked(lambda: [described[(1,)](out, d, d) for _ in range(100)]) == 0
    assert [*map(sys.getrefcount, objects)] == before


def test_latest_descriptors_are_known(described: Any, asked: Callable[..., int]) -> None:
    out, arrays = np.zeros(16, np.int64), [np.zeros((64, 32), np.float32) for _ in range(DESCRIPTORS + 1)]
    made = [TensorDescriptor.from_tensor(array, [16, 16]) for array in arrays]
    for _ in range(3):
        described[(1,)](out, made[0], made[0])
    for d in made[:DESCRIPTORS]:
        described[(1,)](out, d, made[0])
    assert all(asked(lambda d=d: described[(1,)](out, d, made[0])) == 0 for d in made[:DESCRIPTORS])
    assert asked(lambda: described[(1,)](out, made[-1], made[0])) == 1
    assert words(out)[1] == arrays[-1].ctypes.data
    assert asked(lambda: described[(1,)](out, made[0], made[0])) == 1


@pytest.mark.parametrize(
    ("name", "value"), [("block_shape", [16, 32]), ("block_shape", [16]), ("block_shape", None), ("padding", "nan")]
)
def test_changed_kind_of_descriptor_leaves_the_fast_path(described: Any, slow: Slow, name: str, value: object) -> None:
    out, x = np.zeros(16, np.int64), np.zeros((64, 32), np.float32)
    d = TensorDescriptor.from_tensor(x, [16, 16])
    slow.during(lambda: described[(1,)](out, d, d))
    assert slow.during(lambda: described[(1,)](out, d, d)) == 0
    setattr(d, name, value)
    before = slow.count
    try:
        described[(1,)](out, d, d)
    except (TypeError, ArgumentError):
        assert value is None or len(value) == 1
    assert slow.count == before + 1


@pytest.mark.parametrize("name", ["shape", "strides", "base", "round_f32_to_tf32"])
def test_missing_fields_are_errors(described: Any, name: str) -> None:
    out, x = np.zeros(16, np.int64), np.zeros((64, 32), np.float32)
    d = TensorDescriptor.from_tensor(x, [16, 16])
    for _ in range(4):
        described[(1,)](out, d, d)
    del d.__dict__[name]
    if name == "round_f32_to_tf32":  # which has a default
        described[(1,)](out, d, d)
        return
    with pytest.raises(AttributeError, match=name):
        described[(1,)](out, d, d)
