"""TMA copies by descriptors made on the host and on the device, emulated, against NumPy."""

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia import ampere
from tritium.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor
from tritium.frontend.errors import CompilationError
from tritium.runtime.errors import DescriptorError

pytestmark = pytest.mark.usefixtures("hopper")

LAYOUT = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float16)


@gluon.jit
def copy_block(src, dst, row, column):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_type.shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load(src, [row, column], barrier, buffer)
    mbarrier.wait(barrier, 0, deps=(buffer,))
    mbarrier.invalidate(barrier)
    tma.async_store(dst, [row, column], buffer)
    tma.store_wait(0)


@gluon.jit
def copy_block_of_pointers(x, y, row, column, ROWS: gl.constexpr, COLUMNS: gl.constexpr, LAYOUT: gl.constexpr):
    src = tma.make_tensor_descriptor(x, [ROWS, COLUMNS], [COLUMNS, 1], [32, 64], LAYOUT)
    dst = tma.make_tensor_descriptor(y, [ROWS, COLUMNS], [COLUMNS, 1], [32, 64], LAYOUT)
    copy_block(src, dst, row, column)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (32, 64), (48, 96), (0, 128)])
@pytest.mark.parametrize("on_host", [True, False])
def test_a_block_is_copied_and_what_is_outside_is_not(row, column, on_host):
    x = np.random.randn(64, 128).astype(np.float16)
    y = np.full_like(x, np.nan)
    if on_host:
        src, dst = (TensorDescriptor.from_tensor(a, [32, 64], LAYOUT) for a in (x, y))
        kernel = copy_block[(1,)](src, dst, row, column)
    else:
        kernel = copy_block_of_pointers[(1,)](x, y, row, column, 64, 128, LAYOUT)
    want = np.full_like(x, np.nan)
    want[row : row + 32, column : column + 64] = x[row : row + 32, column : column + 64]
    assert np.array_equal(y, want, equal_nan=True)
    assert "cp.async.bulk.tensor" in kernel.asm["ptx"]
    assert "tensormap.replace" not in kernel.asm["ptx"]  # descriptors of arguments are encoded by the launcher


def test_descriptors_are_made_in_the_kernel_without_host_maps():
    x = np.random.randn(64, 128).astype(np.float16)
    y = np.zeros_like(x)
    kernel = copy_block_of_pointers[(1,)](x, y, 0, 64, 64, 128, LAYOUT, host_maps=False)
    assert np.array_equal(y[:32, 64:], x[:32, 64:])
    assert "tensormap.replace" in kernel.asm["ptx"]


@gluon.jit
def add_block(dst, value, LAYOUT: gl.constexpr):
    tile = gl.full([32, 64], value, gl.float32, LAYOUT)
    buffer = gl.allocate_shared_memory(gl.float32, [32, 64], dst.layout, tile)
    fence_async_shared()
    tma.async_atomic_add(dst, [0, 0], buffer)
    tma.store_wait(0)


def test_blocks_are_added_atomically():
    y = np.random.randint(-8, 8, (64, 64)).astype(np.float32)
    before = y.copy()
    dst = TensorDescriptor.from_tensor(y, [32, 64], gl.NVMMASharedLayout.get_default_for([32, 64], gl.float32))
    add_block[(3,)](dst, 2.0, gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0]))
    assert np.array_equal(y[:32], before[:32] + 6) and np.array_equal(y[32:], before[32:])


@gluon.jit
def pipelined_matmul(a, b, c, STAGES: gl.constexpr):
    M: gl.constexpr = c.block_type.shape[0]
    N: gl.constexpr = c.block_type.shape[1]
    K: gl.constexpr = a.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    left = gl.allocate_shared_memory(gl.float16, [STAGES, M, K], a.layout)
    right = gl.allocate_shared_memory(gl.float16, [STAGES, K, N], b.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    for i in gl.static_range(STAGES):
        mbarrier.init(ready.index(i), 1)
    row, column = gl.program_id(0) * M, gl.program_id(1) * N
    steps = gl.cdiv(a.shape[1], K)
    for i in gl.static_range(STAGES - 1):
        mbarrier.expect(ready.index(i), a.nbytes_per_cta + b.nbytes_per_cta, i < steps)
        tma.async_load(a, [row, i * K], ready.index(i), left.index(i), i < steps)
        tma.async_load(b, [i * K, column], ready.index(i), right.index(i), i < steps)
    acc = warpgroup_mma_init(gl.zeros([M, N], gl.float32, mma))
    for i in range(steps):
        slot = i % STAGES
        mbarrier.wait(ready.index(slot), i // STAGES & 1)
        acc = warpgroup_mma(left.index(slot), right.index(slot), acc, is_async=True)
        acc = warpgroup_mma_init(warpgroup_mma_wait(0, deps=(acc,)))
        ahead = i + STAGES - 1
        to = ahead % STAGES
        mbarrier.expect(ready.index(to), a.nbytes_per_cta + b.nbytes_per_cta, ahead < steps)
        tma.async_load(a, [row, ahead * K], ready.index(to), left.index(to), ahead < steps)
        tma.async_load(b, [ahead * K, column], ready.index(to), right.index(to), ahead < steps)
    result = warpgroup_mma_wait(0, deps=(acc,))
    tile = gl.allocate_shared_memory(gl.float16, [M, N], c.layout, result.to(gl.float16))
    fence_async_shared()
    tma.async_store(c, [row, column], tile)
    tma.store_wait(0)


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (100, 72, 136)])
@pytest.mark.parametrize("stages", [2, 3])
def test_a_matmul_pipelined_by_hand(m, n, k, stages):
    a, b = (np.random.randint(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float16)
    blocks = [(a, [64, 64]), (b, [64, 64]), (c, [64, 64])]
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    descriptors = [TensorDescriptor.from_tensor(array, block, layout) for array, block in blocks]
    pipelined_matmul[(-(-m // 64), -(-n // 64))](*descriptors, stages)
    assert np.array_equal(c, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))


@gluon.jit
def other_layout(src, LAYOUT: gl.constexpr):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_type.shape, LAYOUT)
    barrier = mbarrier.allocate_mbarrier()
    tma.async_load(src, [0, 0], barrier, buffer)


def test_a_buffer_in_another_layout_is_refused_at_the_load():
    x = np.zeros((64, 64), np.float16)
    src = TensorDescriptor.from_tensor(x, [32, 64], LAYOUT)
    with pytest.raises(CompilationError, match=r"test_tma.py:\d+:5: .*the descriptor's layout is .*, the buffer's"):
        other_layout[(1,)](src, gl.NVMMASharedLayout(64, 16))


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (None, "must be an NVMMASharedLayout"),
        (gl.NVMMASharedLayout(128, 32), "does not fit a block"),
        (gl.NVMMASharedLayout(128, 16, rank=3), "layout rank must match block shape rank"),
    ],
)
def test_descriptors_whose_layout_does_not_fit_are_refused(layout, message):
    with pytest.raises(DescriptorError, match=message):
        TensorDescriptor.from_tensor(np.zeros((64, 64), np.float16), [32, 64], layout)


@gluon.jit(noinline=True)
def store_block(dst, buffer):
    tma.async_store(dst, [0, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def stores_by_a_function(dst, LAYOUT: gl.constexpr):
    tile = gl.full(dst.block_shape, 3, dst.dtype, LAYOUT)
    store_block(dst, gl.allocate_shared_memory(dst.dtype, dst.block_shape, dst.layout, tile))


def test_functions_that_are_not_inlined_store_blocks():
    y = np.zeros((16, 16), np.float16)
    dst = TensorDescriptor.from_tensor(y, [16, 16], gl.NVMMASharedLayout(32, 16, rank=2))
    found = stores_by_a_function[(1,)](dst, gl.BlockedLayout([1, 2], [4, 8], [4, 1], [1, 0]))
    assert np.array_equal(y, np.full_like(y, 3))
    assert "tt.call" in found.asm["ttgir"] and "fence.proxy.async" in found.asm["ptx"]


@gluon.jit
def copy_with_policy(src, dst, LOAD: gl.constexpr, STORE: gl.constexpr):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_type.shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load(src, [0, 0], barrier, buffer, cache_policy=LOAD)
    mbarrier.wait(barrier, 0, deps=(buffer,))
    tma.async_store(dst, [0, 0], buffer, cache_policy=STORE)
    tma.store_wait(0)


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (gl.CachePolicy(eviction_policy="evict_first"), "createpolicy.fractional.L2::evict_first.b64"),
        (
            ampere.CachePolicy(l2=ampere.FractionalEvictionPolicy("evict_last", 0.5, "evict_first")),
            "createpolicy.fractional.L2::evict_last.L2::evict_first.b64",
        ),
    ],
)
def test_copies_have_policies_for_the_cache(policy, text):
    x = np.random.randn(32, 64).astype(np.float16)
    y = np.zeros_like(x)
    src, dst = (TensorDescriptor.from_tensor(a, [32, 64], LAYOUT) for a in (x, y))
    ptx = copy_with_policy[(1,)](src, dst, policy, policy).asm["ptx"]
    assert np.array_equal(x, y) and text in ptx and ptx.count(".L2::cache_hint") == 2


def test_policies_for_other_caches_are_refused():
    x = np.zeros((32, 64), np.float16)
    src = TensorDescriptor.from_tensor(x, [32, 64], LAYOUT)
    with pytest.raises(CompilationError, match="TMA operations do not support cache modifiers"):
        copy_with_policy[(1,)](src, src, gl.CachePolicy(cache_modifier="cg"), None)
    with pytest.raises(CompilationError, match="L2 eviction policies alone"):
        copy_with_policy[(1,)](src, src, None, ampere.CachePolicy(l1="evict_first"))
