"""Kernels that need each of their waits and fences, of which `test_deleted_waits` deletes one after the other."""

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.ampere import async_copy
from tritium.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def copy_ahead(x, y, steps, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffers = gl.allocate_shared_memory(gl.float32, [2, N], shared)
    at = gl.arange(0, N, layout)
    async_copy.async_copy_global_to_shared(buffers.index(0), x + at)
    async_copy.commit_group()
    for i in range(steps):
        gl.barrier()
        async_copy.async_copy_global_to_shared(
            buffers.index((i + 1) % 2), x + (i + 1) * N + at, mask=at < N * (steps - 1 - i)
        )
        async_copy.commit_group()
        async_copy.wait_group(1)
        gl.store(y + i * N + at, buffers.index(i % 2).load(layout))
    async_copy.wait_group(0)


def run_copy_ahead():
    x = np.random.randn(4, 256).astype(np.float32)
    y = np.zeros_like(x)
    copy_ahead[(1,)](x, y, 4, 256)
    assert np.array_equal(x, y)


@gluon.jit
def matmul(a, b, c, MMA: gl.constexpr):
    left = gl.allocate_shared_memory(gl.float16, [2, 64, 64], a.layout)
    right = gl.allocate_shared_memory(gl.float16, [2, 64, 64], b.layout)
    ready = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(ready.index(i), 1)
    acc = warpgroup_mma_init(gl.zeros([64, 64], gl.float32, MMA))
    steps = a.shape[1] // 64
    for i in range(steps):
        slot = i % 2
        mbarrier.expect(ready.index(slot), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [0, i * 64], ready.index(slot), left.index(slot))
        tma.async_load(b, [i * 64, 0], ready.index(slot), right.index(slot))
        mbarrier.wait(ready.index(slot), i // 2 & 1)
        acc = warpgroup_mma_wait(0, deps=(acc,))
        acc = warpgroup_mma(left.index(slot), right.index(slot), acc, is_async=True)
    result = warpgroup_mma_wait(0, deps=(acc,))
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], c.layout, result.to(gl.float16))
    fence_async_shared()
    tma.async_store(c, [0, 0], tile)
    tma.store_wait(0)


def run_matmul():
    a, b = (np.random.randint(-3, 4, shape).astype(np.float16) for shape in ((64, 256), (256, 64)))
    c = np.zeros((64, 64), np.float16)
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    descriptors = [TensorDescriptor.from_tensor(x, [64, 64], layout) for x in (a, b, c)]
    matmul[(1,)](*descriptors, gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]))
    assert np.array_equal(c, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))


@gluon.jit
def produce(x, buffers, empty, full, steps):
    for i in range(steps):
        slot = i % 2
        mbarrier.wait(empty.index(slot), (i // 2 & 1) ^ 1)
        mbarrier.expect(full.index(slot), x.nbytes_per_cta)
        tma.async_load(x, [i * 16, 0], full.index(slot), buffers.index(slot))


@gluon.jit
def consume(y, buffers, empty, full, steps, LAYOUT: gl.constexpr):
    out = gl.allocate_shared_memory(gl.float32, [16, 32], y.layout)
    for i in range(steps):
        slot = i % 2
        mbarrier.wait(full.index(slot), i // 2 & 1)
        values = buffers.index(slot).load(LAYOUT)
        mbarrier.arrive(empty.index(slot))
        tma.store_wait(0)
        out.store(values * 2)
        fence_async_shared()
        tma.async_store(y, [i * 16, 0], out)
    tma.store_wait(0)


@gluon.jit
def specialized(x, y, steps, LAYOUT: gl.constexpr):
    buffers = gl.allocate_shared_memory(gl.float32, [2, 16, 32], x.layout)
    empty, full = mbarrier.allocate_mbarrier(batch=2), mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(empty.index(i), 1)
        mbarrier.init(full.index(i), 1)
    gl.warp_specialize(
        [(consume, (y, buffers, empty, full, steps, LAYOUT)), (produce, (x, buffers, empty, full, steps))], [1], [24]
    )


def run_specialized():
    x = np.random.randn(64, 32).astype(np.float32)
    y = np.zeros_like(x)
    layout = gl.NVMMASharedLayout.get_default_for([16, 32], gl.float32)
    source, target = (TensorDescriptor.from_tensor(v, [16, 32], layout) for v in (x, y))
    specialized[(1,)](source, target, 4, gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
    assert np.array_equal(y, 2 * x)
