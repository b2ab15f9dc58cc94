"""Atomics on shared memory whose old values several threads hold: one thread executes each, all get its result."""

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl

pytestmark = pytest.mark.usefixtures("hopper")

# copies in no thread, in lanes of a warp, in other warps, in both, in registers
LAYOUTS = [
    gl.BlockedLayout([1, 1], [4, 8], [2, 2], [1, 0]),
    gl.DistributedLinearLayout([[0, 4]], [[1, 0], [2, 0], [0, 1], [0, 2], [0, 0]], [[4, 0], [8, 0]], [], [16, 8]),
    gl.DistributedLinearLayout([[8, 0]], [[1, 0], [2, 0], [4, 0], [0, 1], [0, 2]], [[0, 4], [0, 0]], [], [16, 8]),
    gl.DistributedLinearLayout(
        [[8, 0], [0, 4]], [[1, 0], [2, 0], [0, 1], [0, 2], [0, 0]], [[4, 0], [0, 0]], [], [16, 8]
    ),
    gl.DistributedLinearLayout([[0, 0]], [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], [[4, 0], [8, 0]], [], [16, 8]),
]


@gluon.jit
def add_and_exchange(x, y, old, final, ROWS: gl.constexpr, COLUMNS: gl.constexpr, LAYOUT: gl.constexpr):
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, LAYOUT))[:, None]
    columns = gl.arange(0, COLUMNS, gl.SliceLayout(0, LAYOUT))[None, :]
    at = rows * COLUMNS + columns
    buffer = gl.allocate_shared_memory(
        gl.int32, [ROWS, COLUMNS], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), gl.load(x + at)
    )
    reversed_columns = gl.broadcast(COLUMNS - 1 - columns, at)[0]
    before = buffer.atomic_scatter_add(gl.load(y + at), reversed_columns, axis=1)
    gl.store(old + at, before)
    gl.store(final + at, buffer.load(LAYOUT))


@pytest.mark.parametrize("layout", LAYOUTS, ids=["none", "lanes", "warps", "both", "registers"])
def test_old_values_reach_every_thread_that_holds_them(layout):
    x, y = (np.random.randint(-1000, 1000, (16, 8)).astype(np.int32) for _ in range(2))
    old, final = np.full_like(x, -1), np.full_like(x, -1)
    add_and_exchange[(1,)](x, y, old, final, 16, 8, layout)
    assert np.array_equal(old, x[:, ::-1])
    assert np.array_equal(final, x + y[:, ::-1])
