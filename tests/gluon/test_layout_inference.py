"""Layouts that are left open: through loops and branches, conflicts, and tensors that none reaches."""

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.support.errors import UnsupportedOperation

pytestmark = pytest.mark.usefixtures("hopper")
LAYOUT = gl.BlockedLayout([2], [32], [4], [0])
OTHER = gl.BlockedLayout([1], [32], [4], [0])


@gluon.jit
def carried(x, y, n, L: gl.constexpr):
    at = gl.arange(0, 256)
    total = gl.zeros([256], gl.float32)
    for i in range(n):
        if i % 2 == 0:
            total += gl.load(x + at)
        else:
            total -= 1.0
    gl.store(y + gl.set_auto_layout(at, L), total)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_layouts_reach_values_that_loops_and_branches_carry(n):
    x, y = np.random.randint(-8, 8, 256).astype(np.float32), np.full(256, np.nan, np.float32)
    kernel = carried[(1,)](x, y, n, LAYOUT)
    assert np.array_equal(y, x * ((n + 1) // 2) - n // 2)
    assert "auto_encoding" not in kernel.asm["ttgir"]


@gluon.jit
def conflicting(x, y, A: gl.constexpr, B: gl.constexpr):
    at = gl.arange(0, 256)
    gl.store(x + gl.set_auto_layout(at, A), 1.0)
    gl.store(y + gl.set_auto_layout(at, B), 2.0)


def test_two_layouts_for_one_tensor_are_refused_at_its_line():
    x = np.zeros(256, np.float32)
    with pytest.raises(UnsupportedOperation, match=r"test_layout_inference.py:\d+:10: .*two layouts are inferred"):
        conflicting[(1,)](x, x, LAYOUT, OTHER)


@gluon.jit
def unreached(x):
    at = gl.arange(0, 256)
    gl.store(x + at, 1.0)


def test_a_tensor_that_no_layout_reaches_is_refused_at_its_line():
    with pytest.raises(UnsupportedOperation, match=r"test_layout_inference.py:\d+:10: .*use gl.set_auto_layout"):
        unreached[(1,)](np.zeros(256, np.float32))
