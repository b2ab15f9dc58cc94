"""Matrix instructions, asynchronous copies, mbarriers and warp specialization, emulated, against NumPy."""

import re

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from tritium.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tritium.frontend.errors import CompilationError

pytestmark = pytest.mark.usefixtures("hopper")

IO = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])


def operands(rows, depth, columns, dtype):
    a, b = (np.random.randint(-4, 5, shape).astype(dtype) for shape in ((rows, depth), (depth, columns)))
    return a, b, np.full((rows, columns), np.nan, np.float32), a.astype(np.float32) @ b.astype(np.float32)


@gluon.jit
def offsets(ROWS: gl.constexpr, COLUMNS: gl.constexpr, LAYOUT: gl.constexpr):
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, LAYOUT))[:, None]
    return rows * COLUMNS + gl.arange(0, COLUMNS, gl.SliceLayout(0, LAYOUT))[None, :]


@gluon.jit
def mma_sync(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, IO: gl.constexpr, WIDTH: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    shared: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    left = gl.allocate_shared_memory(a.dtype.element_ty, [M, K], shared)
    right = gl.allocate_shared_memory(a.dtype.element_ty, [K, N], shared)
    async_copy.async_load(left, a + offsets(M, K, IO))
    async_copy.async_load(right, b + offsets(K, N, IO))
    async_copy.commit_group()
    async_copy.wait_group(0)
    acc = gl.zeros([M, N], gl.float32, mma)
    x, y = left.load(gl.DotOperandLayout(0, mma, WIDTH)), right.load(gl.DotOperandLayout(1, mma, WIDTH))
    gl.store(c + offsets(M, N, IO), gl.convert_layout(mma_v2(x, y, acc), IO))


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (32, 64, 16), (128, 32, 64)])
@pytest.mark.parametrize(("dtype", "width"), [(np.float16, 2), (np.float32, 1)])
def test_mma_sync_of_operands_copied_asynchronously(m, n, k, dtype, width):
    a, b, c, want = operands(m, k, n, dtype)
    kernel = mma_sync[(1,)](a, b, c, m, n, k, IO, width)
    assert np.array_equal(c, want)
    assert "mma.sync" in kernel.asm["ptx"] and "cp.async" in kernel.asm["ptx"]


@gluon.jit
def wgmma(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, IO: gl.constexpr, REGISTERS: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    left: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, K], gl.float16)
    right: gl.constexpr = gl.NVMMASharedLayout.get_default_for([K, N], gl.float16)
    x = gl.load(a + offsets(M, K, IO))
    y = gl.allocate_shared_memory(gl.float16, [K, N], right, gl.load(b + offsets(K, N, IO)))
    if REGISTERS:
        operand = gl.convert_layout(x, gl.DotOperandLayout(0, mma, 2))
    else:
        operand = gl.allocate_shared_memory(gl.float16, [M, K], left, x)
    fence_async_shared()
    acc = warpgroup_mma_init(gl.full([M, N], 1.0, gl.float32, mma))
    acc = warpgroup_mma(operand, y, acc, is_async=True)
    acc = warpgroup_mma(operand, y, acc, is_async=True)
    acc = warpgroup_mma_wait(0, deps=(acc,))
    acc = warpgroup_mma(operand, y, acc, use_acc=False) + acc
    gl.store(c + offsets(M, N, IO), gl.convert_layout(acc, IO))


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (128, 32, 32), (64, 128, 16)])
@pytest.mark.parametrize("registers", [False, True])
def test_wgmma_with_the_left_operand_in_memory_or_registers(m, n, k, registers):
    a, b, c, want = operands(m, k, n, np.float16)
    kernel = wgmma[(1,)](a, b, c, m, n, k, IO, registers)
    assert np.array_equal(c, 3 * want + 1)
    assert kernel.asm["ptx"].count("wgmma.mma_async") >= 3


@gluon.jit
def load_partition(x, buffer, full, empty, count):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    for i in range(count):
        slot = i % 2
        mbarrier.wait(empty.index(slot), 1 - (i // 2 & 1))
        buffer.index(slot).store(gl.load(x + i * 128 + gl.arange(0, 128, layout)))
        mbarrier.arrive(full.index(slot))


@gluon.jit
def store_partition(y, buffer, full, empty, count):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    for i in range(count):
        slot = i % 2
        mbarrier.wait(full.index(slot), i // 2 & 1)
        value = buffer.index(slot).load(layout)
        mbarrier.arrive(empty.index(slot))
        gl.store(y + i * 128 + gl.arange(0, 128, layout), value * 2)
    return count * 3


@gluon.jit
def specialized(x, y, z, count, WARPS: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [2, 128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    full, empty = mbarrier.allocate_mbarrier(batch=2), mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(full.index(i), 1)
        mbarrier.init(empty.index(i), 1)
    result = gl.warp_specialize(
        [(store_partition, (y, buffer, full, empty, count)), (load_partition, (x, buffer, full, empty, count))],
        [WARPS],
        [24],
    )
    gl.store(z, result)


@gluon.jit
def ring(a, b, c, count, IO: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    left = gl.allocate_shared_memory(gl.float16, [3, 64, 64], layout)
    right = gl.allocate_shared_memory(gl.float16, [3, 64, 64], layout)
    for i in gl.static_range(3):
        left.index(i).store(gl.load(a + 4096 * i + offsets(64, 64, IO)))
        right.index(i).store(gl.load(b + 4096 * i + offsets(64, 64, IO)))
    fence_async_shared()
    gl.barrier()
    acc = warpgroup_mma_init(gl.zeros([64, 64], gl.float32, mma))
    for i in range(count):
        acc = warpgroup_mma_wait(0, deps=(acc,))
        acc = warpgroup_mma(left.index(i % 3), right.index(i % 3), acc, is_async=True)
    acc = warpgroup_mma_wait(0, deps=(acc,))
    gl.store(c + offsets(64, 64, IO), gl.convert_layout(acc, IO))


def test_descriptors_are_computed_before_the_wait_for_the_previous_wgmma():
    """Nothing but the fence is between them: the tensor cores are idle there."""
    a, b = (np.random.randint(-2, 3, (3, 64, 64)).astype(np.float16) for _ in range(2))
    c = np.full((64, 64), np.nan, np.float32)
    ptx = ring[(1,)](a, b, c, 5, IO).asm["ptx"]
    products = np.matmul(a.astype(np.float32), b.astype(np.float32))
    assert np.array_equal(c, products[[0, 1, 2, 0, 1]].sum(0))
    between = re.findall(r"wgmma\.wait_group\.sync\.aligned 0;(.*?)wgmma\.fence", ptx, re.DOTALL)
    assert between
    for text in between:
        assert not re.search(r"^\s*(?:add|and|or|shr|shl|mul|mad|sub|cvt)\.", text, re.MULTILINE)


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_partitions_exchange_tiles_through_a_ring(count, warps):
    x = np.random.randn(128 * 5).astype(np.float32)
    y, z = np.full_like(x, np.nan), np.zeros(1, np.int32)
    kernel = specialized[(1,)](x, y, z, count, warps)
    assert np.array_equal(y[: 128 * count], 2 * x[: 128 * count]) and np.isnan(y[128 * count :]).all()
    assert z[0] == 3 * count
    assert "setmaxnreg" in kernel.asm["ptx"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("mma_v2(x, x, x)", "NVMMADistributedLayout of version"),
        ("warpgroup_mma(x, x, x)", "operand b of warpgroup_mma must be a buffer"),
        ("warpgroup_mma_wait(0)", "deps must be given"),
        ("mbarrier.init(buffer, 1)", "takes an mbarrier, got shared_memory_descriptor<fp32"),
        ("mbarrier.wait(x, 0)", "takes an mbarrier, got <"),
        ("async_copy.async_load(buffer, p + gl.arange(0, 64, L))", "expected smem shape to match pointer shape"),
        ("gl.warp_specialize([(x, (x,))], [])", "pairs of a function and a tuple"),
        ("gl.warp_specialize([(offsets, (1, 1, L))], [4])", "0 partitions but 1 warp counts"),
        ("buffer.store(p)", "source shape"),
        ("gl.expand_dims(x, 0)", "to have a SliceLayout"),
        ("x + gl.arange(0, 128, gl.BlockedLayout([2], [32], [4], [0]))", "Layout mismatch in broadcast"),
        ("gl.convert_layout(x, gl.BlockedLayout([4], [32], [4], [0]), assert_trivial=True)", "is not trivial"),
        ("gl.reshape(x, [32, 4], can_reorder=True)", "can_reorder is not supported"),
        ("gl.histogram(x, 16)", "requires a destination layout"),
        ("gl.set_auto_layout(x, L)", "must have auto layout"),
    ],
)
def test_misuse_is_refused_at_its_line(call, message, tmp_path, monkeypatch):
    source = (
        "from tests.gluon.test_hopper import *\n\n@gluon.jit\ndef kernel(p, L: gl.constexpr):\n"
        "    x = gl.arange(0, 128, L)\n"
        "    buffer = gl.allocate_shared_memory(gl.float32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))\n"
        f"    y = {call}\n"
    )
    path = tmp_path / "misused.py"
    path.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    scope = {}
    exec(compile(source, str(path), "exec"), scope)
    with pytest.raises(CompilationError, match="misused.py:7:") as error:
        scope["kernel"][(1,)](np.zeros(128, np.float32), gl.BlockedLayout([1], [32], [4], [0]))
    assert message in str(error.value)
