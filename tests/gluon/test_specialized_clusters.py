"""Warp specialization in a cluster: two CTAs share an operand by multicast, emulated, against NumPy."""

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor
from tritium.support import UnsupportedOperation

pytestmark = pytest.mark.usefixtures("hopper")


@gluon.jit
def produce(a, b, left, right, full, free, both_free, K, BK: gl.constexpr, STAGES: gl.constexpr):
    for i in range(K // BK):
        stage, parity = i % STAGES, (i // STAGES & 1) ^ 1
        mbarrier.wait(free.index(stage), parity)
        mbarrier.wait(both_free.index(stage), parity)
        mbarrier.expect(full.index(stage), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [0, i * BK], full.index(stage), left.index(stage))
        tma.async_load(b, [i * BK, 0], full.index(stage), right.index(stage), multicast=True)


@gluon.jit
def consume(c, left, right, out, full, free, both_free, K, BK: gl.constexpr, STAGES: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 32, 16], cga_layout=[[1, 0]])
    acc = gl.zeros([128, 32], gl.float32, mma)
    for i in range(K // BK):
        stage = i % STAGES
        mbarrier.wait(full.index(stage), i // STAGES & 1)
        acc = warpgroup_mma(left.index(stage), right.index(stage), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[acc])
        mbarrier.arrive(free.index(stage))
        mbarrier.arrive(both_free.index(stage))
    out.store(acc.to(gl.float16))
    fence_async_shared()
    tma.async_store(c, [0, 0], out)
    tma.store_wait(0)


@gluon.jit
def matmul_of_pair(a, b, c, K, BK: gl.constexpr, STAGES: gl.constexpr, BRANCH: gl.constexpr):
    left = gl.allocate_shared_memory(gl.float16, [STAGES, 128, BK], a.layout)
    right = gl.allocate_shared_memory(gl.float16, [STAGES, BK, 32], b.layout)
    out = gl.allocate_shared_memory(gl.float16, [128, 32], c.layout)
    full, free = mbarrier.allocate_mbarrier(batch=STAGES), mbarrier.allocate_mbarrier(batch=STAGES)
    both_free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout(cga_layout=[[0]]))
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(free.index(i), count=1)
        mbarrier.init(both_free.index(i), count=1)
    if BRANCH:
        if K > 0:
            gl.barrier(cluster=True)
    gl.warp_specialize(
        [
            (consume, (c, left, right, out, full, free, both_free, K, BK, STAGES)),
            (produce, (a, b, left, right, full, free, both_free, K, BK, STAGES)),
        ],
        [1],
        [40],
    )
    for i in gl.static_range(STAGES):
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(free.index(i))
        mbarrier.invalidate(both_free.index(i))


def launch(depth, branch=False):
    a, b = (np.random.randint(-3, 4, shape).astype(np.float16) for shape in ((128, depth), (depth, 32)))
    c = np.full((128, 32), np.nan, np.float16)

    def descriptor(x, block, cga):
        layout = gl.NVMMASharedLayout.get_default_for(block, gl.float16, cga_layout=cga)
        return TensorDescriptor.from_tensor(x, block, layout)

    split, same = [[1, 0]], [[0, 0]]
    maps = descriptor(a, [128, 32], split), descriptor(b, [32, 32], same), descriptor(c, [128, 32], split)
    kernel = matmul_of_pair[(1,)](*maps, depth, 32, 2, branch, num_warps=4, num_ctas=2)
    assert np.array_equal(c, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))
    return kernel.asm["ptx"]


@pytest.mark.parametrize("depth", [32, 64, 160])
def test_two_ctas_share_an_operand_by_multicast(depth):
    assert ".multicast::cluster" in launch(depth)


def test_workers_repeat_the_cluster_barriers_before_they_part():
    """All threads of a cluster must arrive: at the barrier after mbarriers are initialized, and where warps part."""
    ptx = launch(64)
    first, workers = ptx.split("setmaxnreg.dec", 1)
    assert first.count("barrier.cluster.arrive") == 3, "after initialization, at the operation, before invalidation"
    assert workers.count("barrier.cluster.arrive") == 3 * 2, "the producer and two partitions that are idle"


def test_a_conditional_cluster_barrier_before_partitions_is_refused():
    with pytest.raises(UnsupportedOperation, match="some warps do something else"):
        launch(64, branch=True)


@gluon.jit
def rotates(x, ROUNDS: gl.constexpr, WARPS: gl.constexpr, CTAS: gl.constexpr, BASES: gl.constexpr):
    """Each CTA adds, in each round, the values that the next one has stored in the round before."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [WARPS], [0], cga_layout=BASES)
    n: gl.constexpr = 32 * WARPS * CTAS
    at = gl.arange(0, n, layout)
    for i in range(ROUNDS):
        value = gl.load(x + i * n + (at + 32 * WARPS) % n)
        gl.store(x + (i + 1) * n + at, value + 1)
        gl.barrier(cluster=True)


@gluon.jit
def rotations(x, y, z, CTAS: gl.constexpr, BASES: gl.constexpr):
    gl.warp_specialize(
        [
            (rotates, (x, 5, 4, CTAS, BASES)),
            (rotates, (y, 3, 4, CTAS, BASES)),
            (rotates, (z, 4, 1, CTAS, BASES)),
        ],
        [4, 1],
        [24, 24],
    )


@pytest.mark.parametrize("ctas", [2, 4])
def test_partitions_synchronize_with_those_of_other_ctas(ctas):
    """Each partition executes its own number of cluster barriers; the emulator checks for races."""
    starts = [np.random.randint(0, 99, 32 * warps * ctas).astype(np.int32) for warps in (4, 4, 1)]
    arrays = [np.zeros((rounds + 1, len(start)), np.int32) for rounds, start in zip((5, 3, 4), starts)]
    for array, start in zip(arrays, starts):
        array[0] = start
    bases = [[1 << k] for k in range(ctas.bit_length() - 1)]
    rotations[(1,)](*arrays, ctas, bases, num_warps=4, num_ctas=ctas)
    for array, start, warps in zip(arrays, starts, (4, 4, 1)):
        for i, row in enumerate(array):
            assert np.array_equal(row, np.roll(start, -32 * warps * i) + i)


@gluon.jit
def exchanges(x, y, A: gl.constexpr, B: gl.constexpr):
    at = gl.arange(0, 512, A)
    value = gl.convert_layout(gl.load(x + at), B)
    total = gl.sum(gl.load(x + at), 0)
    gl.store(y + gl.arange(0, 512, B), value + total)


@gluon.jit
def exchanging(x, y, z, A: gl.constexpr, B: gl.constexpr):
    gl.warp_specialize([(exchanges, (x, y, A, B)), (exchanges, (x, z, B, A))], [4], [24])


def test_partitions_exchange_values_with_other_ctas():
    """Conversions and reductions between CTAs synchronize by the mbarriers of the partition."""
    x = np.random.randint(0, 99, 512).astype(np.int32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    low, high = (
        gl.DistributedLinearLayout(
            reg_bases=registers, lane_bases=lanes, warp_bases=warps, block_bases=blocks, shape=[512]
        )
        for registers, lanes, warps, blocks in (
            ([[256]], [[1], [2], [4], [8], [16]], [[32], [64]], [[128]]),
            ([[1]], [[2], [4], [8], [16], [32]], [[64], [128]], [[256]]),
        )
    )
    kernel = exchanging[(1,)](x, y, z, low, high, num_warps=4, num_ctas=2)
    assert np.array_equal(y, x + x.sum()) and np.array_equal(z, y)
    assert "ld.shared::cluster" in kernel.asm["ptx"]
