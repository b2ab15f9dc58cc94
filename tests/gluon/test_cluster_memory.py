"""Shared memory of other CTAs of a cluster: gathers, scatters, slices, atomics, asynchronous stores; emulated."""

import numpy as np
import pytest

from tritium.emulator import AsynchronyError, DataRace
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia import hopper
from tritium.experimental.gluon.language.nvidia.hopper import mbarrier
from tritium.support import UnsupportedOperation

pytestmark = pytest.mark.usefixtures("hopper")


@gluon.jit
def from_peers(x, y, LAYOUT: gl.constexpr, SCATTER: gl.constexpr, SYNC: gl.constexpr = True):
    at = gl.arange(0, 2, gl.SliceLayout(1, LAYOUT))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, LAYOUT))[None, :]
    values = gl.load(x + at)
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=[[0, 1]])
    buffer = gl.allocate_shared_memory(gl.int32, [2, 32], shared, values)
    if SYNC:
        gl.barrier(cluster=True)
    columns = (at % 32) ^ 16
    if SCATTER:
        buffer.scatter(values, columns, axis=1)
        gl.barrier(cluster=True)
        result = buffer.load(LAYOUT)
    else:
        result = buffer.gather(columns, axis=1)
    gl.store(y + at, result)


@pytest.mark.parametrize("scatter", [False, True])
def test_elements_of_other_ctas_are_gathered_and_scattered(scatter):
    x = np.arange(64, dtype=np.int32).reshape(2, 32)
    y = np.zeros_like(x)
    layout = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0], cga_layout=[[0, 1]])
    ptx = from_peers[(1,)](x, y, layout, scatter, num_ctas=2).asm["ptx"]
    assert np.array_equal(y, np.roll(x, 16, 1))
    assert ("st" if scatter else "ld") + ".shared::cluster.b32" in ptx
    assert ptx.rindex("barrier.cluster.wait") > ptx.rindex(".shared::cluster")  # no CTA exits before


def test_a_missing_cluster_barrier_is_reported():
    x = np.arange(64, dtype=np.int32).reshape(2, 32)
    layout = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0], cga_layout=[[0, 1]])
    with pytest.raises(DataRace, match=r"no barrier orders the two(.|\n)*buffer\.gather"):
        from_peers[(1,)](x, x.copy(), layout, False, SYNC=False, num_ctas=2)


@gluon.jit
def slices(x, y, z, OP: gl.constexpr, WHOLE: gl.constexpr, PART: gl.constexpr):
    at = gl.arange(0, 4, gl.SliceLayout(1, WHOLE))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, WHOLE))[None, :]
    rows, columns = (
        gl.arange(0, 2, gl.SliceLayout(1, PART))[:, None],
        gl.arange(0, 32, gl.SliceLayout(0, PART))[None, :],
    )
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=[[1, 0]])
    buffer = gl.allocate_shared_memory(gl.int32, [4, 32], shared, gl.load(x + at))
    gl.barrier(cluster=True)
    part = buffer.slice(2, 2, dim=0)
    inside = rows * 32 + columns
    if OP == "load":
        gl.store(y + inside, part.load(PART))
    elif OP == "store":
        part.store(inside)
    else:
        old = part.atomic_scatter_add(inside, columns + rows * 0, axis=1)
        gl.store(y + inside, old)
    gl.barrier(cluster=True)
    gl.store(z + at, buffer.load(WHOLE))


@pytest.mark.parametrize("op", ["load", "store", "atomic"])
def test_a_slice_that_one_cta_holds_is_accessed_by_all(op):
    x = np.random.randint(0, 100, (4, 32), np.int32)
    y, z = np.zeros((2, 32), np.int32), np.zeros_like(x)
    whole = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0], cga_layout=[[1, 0]])
    part = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0], cga_layout=[[0, 0]])
    slices[(1,)](x, y, z, op, whole, part, num_ctas=2)
    want, new = x.copy(), np.arange(64, dtype=np.int32).reshape(2, 32)
    if op == "store":
        want[2:] = new
    elif op == "atomic":
        want[2:] += new  # once, though both CTAs hold the values
    assert np.array_equal(z, want)
    assert op == "store" or np.array_equal(y, x[2:])


@gluon.jit
def send(y, SHARED: gl.constexpr, LAYOUT: gl.constexpr, N: gl.constexpr, WAIT: gl.constexpr = True):
    at = gl.arange(0, N, LAYOUT)
    buffer = gl.allocate_shared_memory(y.dtype.element_ty, [N], SHARED)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, 1)
    mbarrier.expect(barrier, buffer.nbytes_per_cta)
    hopper.async_store(buffer, at.to(y.dtype.element_ty), barrier)
    if WAIT:
        mbarrier.wait(barrier, 0, deps=(buffer,))
    result = buffer.load(LAYOUT)
    mbarrier.invalidate(barrier)
    gl.store(y + at, result)


@pytest.mark.parametrize(("dtype", "size"), [(np.int32, 1), (np.float16, 2), (np.float32, 4), (np.int64, 1)])
@pytest.mark.parametrize("cga", [[[0]], [[128]]])
def test_registers_are_stored_asynchronously_to_the_cluster(dtype, size, cga):
    y = np.zeros(256, dtype)
    shared = gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=[[0]] if cga == [[0]] else [[1]])
    layout = gl.BlockedLayout([size], [32], [4], [0], cga_layout=[[0]] if cga == [[0]] else [[1]])
    found = send[(1,)](y, shared, layout, 256, num_ctas=2)
    assert np.array_equal(y, np.arange(256).astype(dtype))
    assert "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" in found.asm["ptx"]


def test_asynchronous_stores_must_be_waited_for():
    layout, shared = gl.BlockedLayout([1], [32], [4], [0], [[0]]), gl.SwizzledSharedLayout(1, 1, 1, [0], [[0]])
    with pytest.raises((DataRace, AsynchronyError), match=r"has not waited for the mbarrier(.|\n)*buffer\.load"):
        send[(1,)](np.zeros(128, np.int32), shared, layout, 128, WAIT=False, num_ctas=2)


@gluon.jit
def scatters_to_copies(y, LAYOUT: gl.constexpr):
    at = gl.arange(0, 64, LAYOUT)
    buffer = gl.allocate_shared_memory(gl.int32, [64], gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=[[0]]))
    buffer.scatter(at, at, axis=0)
    gl.store(y + at, buffer.load(LAYOUT))


def test_stores_that_would_have_to_reach_copies_are_refused_at_their_line():
    layout = gl.BlockedLayout([1], [32], [1], [0], cga_layout=[[1]])
    with pytest.raises(UnsupportedOperation, match=r"test_cluster_memory.py:\d+:5: .*have copies of is not supported"):
        scatters_to_copies[(1,)](np.zeros(64, np.int32), layout, num_ctas=2, num_warps=1)


@gluon.jit
def sum_of_rows(x, y, LAYOUT: gl.constexpr, M: gl.constexpr, N: gl.constexpr):
    at = gl.arange(0, M, gl.SliceLayout(1, LAYOUT))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, LAYOUT))[None, :]
    gl.store(y + gl.arange(0, N), gl.sum(gl.load(x + at), axis=0))


def test_a_reduction_between_ctas():
    x = np.random.randint(0, 9, (128, 4)).astype(np.float32)
    y = np.zeros(4, np.float32)
    lanes = [[0, 1], [4, 0], [0, 2], [8, 0], [0, 0]]
    layout = gl.DistributedLinearLayout([[1, 0], [2, 0]], lanes, [[16, 0], [32, 0]], [[64, 0]], [128, 4])
    sum_of_rows[(1,)](x, y, layout, 128, 4, num_ctas=2)
    assert np.array_equal(y, x.sum(0))
