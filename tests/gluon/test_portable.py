"""Gluon kernels of portable operations on the CPU and interpreted, against NumPy; what only GPUs have is refused."""

from collections.abc import Iterator

import numpy as np
import pytest

from tests.gluon import test_kernels as kernels
from tests.gluon.test_kernels import BLOCKED, COLUMNS, LINE, LINEAR, poisoned
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.ampere import async_copy
from tritium.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier
from tritium.support import TritiumError, settings


@pytest.fixture(params=["cpu", "interpreted"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The CPU target, or NumPy line by line."""
    monkeypatch.setattr(settings.runtime, "interpret", request.param == "interpreted")
    return request.param


CASES = {
    "masks": lambda: kernels.test_masked_copy(1500),
    "automatic layouts": lambda: kernels.test_automatic_layouts_follow_from_the_one_that_is_set(BLOCKED),
    **{
        f"{name} of {np.dtype(dtype)}": lambda name=name, dtype=dtype: kernels.test_transposes_through_shared_memory(
            dtype, name
        )
        for name in ("swizzled", "nvmma", "linear")
        for dtype in (np.float16, np.int8)
    },
    "views": kernels.test_views_of_buffers,
    "slices of several buffers": kernels.test_slices_of_several_buffers_begin_anywhere,
    "reductions and scans": lambda: kernels.test_reductions_and_scans(COLUMNS),
    "gather, scatter, histogram": kernels.test_gather_scatter_and_histogram,
    "dot_fma": kernels.test_dot_fma,
    "fp4 along rows": lambda: kernels.test_numbers_of_4_bits_become_neighbours_along_the_axis(LINEAR, 1),
    "fp4 along columns": lambda: kernels.test_numbers_of_4_bits_become_neighbours_along_the_axis(BLOCKED, 0),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("machine")
def test_kernels_compute_the_same_without_a_gpu(case):
    CASES[case]()


@gluon.jit
def coalesced(x, y, N: gl.constexpr):
    at = gl.arange(0, N, gl.CoalescedLayout())
    gl.store(y + at, gl.load(x + at) + 1)


@pytest.mark.usefixtures("machine")
def test_coalesced_layouts_need_no_gpu():
    x, y = np.random.randn(2048).astype(np.float32), poisoned(2048)
    coalesced[(1,)](x, y, 2048)
    assert np.array_equal(y, x + 1)


@gluon.jit
def aliasing(x, y, N: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.arange(0, N, LAYOUT)
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffers = gl.allocate_shared_memory(gl.float32, [2, N], shared)
    for i in gl.static_range(2):
        buffers.index(i).store(gl.load(x + i * N + at))
    total = gl.zeros([N], gl.float32, LAYOUT)
    for i in range(4):
        now = buffers.index(i % 2)
        total += now.load(LAYOUT)
        gl.barrier()
        now.slice(0, N // 2).store(now.slice(N // 2, N // 2).load(LAYOUT))
        gl.barrier()
    gl.store(y + at, total)


@pytest.mark.usefixtures("machine")
def test_views_alias_the_buffer_in_loops():
    x, y = np.random.randint(-8, 8, (2, 256)).astype(np.float32), poisoned(256)
    aliasing[(1,)](x, y, 256, LINE)
    want, buffers = np.zeros(256, np.float32), x.copy()
    for i in range(4):
        want += buffers[i % 2]
        buffers[i % 2, :128] = buffers[i % 2, 128:]
    assert np.array_equal(y, want)


@gluon.jit
def asynchronous(x, y, n, N: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.arange(0, N, LAYOUT)
    buffer = gl.allocate_shared_memory(gl.float32, [N], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    async_copy.async_load(buffer, x + at, at < n)
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y + at, buffer.load(LAYOUT))


@pytest.mark.usefixtures("machine")
def test_asynchronous_copies_fill_with_zeros():
    x, y = np.random.randn(128).astype(np.float32), poisoned(128)
    asynchronous[(1,)](x, y, 100, 128, LINE)
    assert np.array_equal(y, np.where(np.arange(128) < 100, x, 0))


@gluon.jit
def counting(x, before, counts, N: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.arange(0, N, LAYOUT)
    zeros = gl.zeros([N], gl.int32, LAYOUT)
    buffer = gl.allocate_shared_memory(gl.int32, [N], gl.SwizzledSharedLayout(1, 1, 1, [0]), zeros)
    old = buffer.atomic_scatter_add(zeros + 1, gl.load(x + at), 0, mask=at < N // 2)
    gl.store(before + at, old, at < N // 2)
    gl.barrier()
    gl.store(counts + at, buffer.load(LAYOUT))


@pytest.mark.usefixtures("machine")
def test_atomics_on_buffers():
    x = np.random.randint(0, 8, 128).astype(np.int32)
    before, counts = poisoned(128, np.int32), poisoned(128, np.int32)
    counting[(1,)](x, before, counts, 128, LINE)
    assert np.array_equal(counts, np.bincount(x[:64], minlength=128))
    assert np.array_equal(before[:64], [np.count_nonzero(x[:i] == x[i]) for i in range(64)])


@gluon.jit
def joined(x, y, first, LAYOUT: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    at = gl.arange(0, 256, LAYOUT)
    buffers = gl.allocate_shared_memory(gl.float32, [4, 128], shared)
    both = buffers.index(first)._reinterpret(gl.float32, [256], shared)
    both.store(gl.load(x + at))
    gl.barrier()
    part = gl.arange(0, 128, LAYOUT)
    gl.store(y + part, buffers.index(first + 1).load(LAYOUT))


@pytest.mark.usefixtures("machine")
def test_a_view_may_continue_in_the_next_buffer_of_the_allocation():
    x, y = np.random.randn(256).astype(np.float32), poisoned(128)
    joined[(1,)](x, y, 2, LINE)
    assert np.array_equal(y, x[128:])


@gluon.jit
def reinterpreted(x, y, SHARED: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.arange(0, 128, LAYOUT)
    buffer = gl.allocate_shared_memory(gl.float32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]), gl.load(x + at))
    rows = gl.arange(0, 32, gl.SliceLayout(1, BLOCKED_ROWS))[:, None]
    to = rows * 4 + gl.arange(0, 4, gl.SliceLayout(0, BLOCKED_ROWS))[None, :]
    gl.store(y + to, buffer._reinterpret(gl.int32, [32, 4], SHARED).load(BLOCKED_ROWS))


BLOCKED_ROWS: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [4, 1], [1, 0])


@pytest.mark.usefixtures("machine")
def test_bytes_in_row_major_order_are_read_as_others():
    x, y = np.random.randn(128).astype(np.float32), poisoned((32, 4), np.int32)
    reinterpreted[(1,)](x, y, gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), LINE)
    assert np.array_equal(y.reshape(-1), x.view(np.int32))


def test_bytes_elsewhere_are_refused():
    x, y = np.zeros(128, np.float32), poisoned((32, 4), np.int32)
    with pytest.raises(TritiumError, match=r"memdesc_reinterpret.*TRITIUM_TARGET=emulated:90"):
        reinterpreted[(1,)](x, y, gl.SwizzledSharedLayout(1, 1, 4, [1, 0]), LINE)


@gluon.jit
def fenced(x):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    fence_async_shared()


@pytest.mark.usefixtures("machine")
def test_operations_of_gpus_are_refused_at_their_line():
    with pytest.raises(TritiumError) as caught:
        fenced[(1,)](np.zeros(1, np.float32))
    text = str(caught.value)
    assert "ttng.init_barrier is an operation of NVIDIA GPUs" in text
    assert "TRITIUM_TARGET=emulated:90" in text
    assert "mbarrier.init(bar, count=1)" in text
