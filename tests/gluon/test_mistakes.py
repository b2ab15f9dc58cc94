"""Mistakes that authors of Gluon kernels make: one error each, at the line, with what to change."""

import re

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.ampere import mma_v2
from tritium.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor
from tritium.support import TritiumError

pytestmark = pytest.mark.usefixtures("hopper")

LINE = gl.BlockedLayout([1], [32], [4], [0])
SQUARE = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
TILE = gl.NVMMASharedLayout(128, 16)
NARROW = gl.NVMMASharedLayout(64, 16)
MMA = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
SYNC = gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])
ROW = gl.SwizzledSharedLayout(1, 1, 1, [0])
PLAIN = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])


@gluon.jit
def part(y, LAYOUT: gl.constexpr):
    gl.store(y + gl.arange(0, 128, LAYOUT), 1.0)


@gluon.jit
def vectors(y, CASE: gl.constexpr):
    buffers = gl.allocate_shared_memory(gl.float32, [2, 128], ROW)
    at = gl.arange(0, 128, LINE)
    if CASE == "correct":
        buffers.index(0).store(gl.zeros([128], gl.float32, LINE))
        gl.store(y + at, buffers.index(0).load(LINE))
    if CASE == "values in another layout":
        gl.store(y + at, gl.zeros([128], gl.float32, gl.BlockedLayout([4], [32], [1], [0])))
    if CASE == "size":
        gl.store(y, gl.sum(gl.zeros([96], gl.float32, LINE) + gl.program_id(0), 0))
    if CASE == "no layout":
        gl.store(y + gl.arange(0, 128), 1.0)
    if CASE == "slice past the end":
        buffers.index(0).slice(64, 128).store(gl.zeros([128], gl.float32, LINE))
    if CASE == "slice not aligned":
        buffers.index(0).slice(24, 32).store(gl.zeros([32], gl.float32, LINE))
    if CASE == "index":
        buffers.index(2).store(gl.zeros([128], gl.float32, LINE))
    if CASE == "stored type":
        buffers.index(0).store(gl.zeros([128], gl.float16, LINE))
    if CASE == "buffer as a tensor":
        gl.store(y + at, buffers.index(0))
    if CASE == "buffer in a sum":
        at + buffers.index(0)
    if CASE == "layout of registers":
        gl.allocate_shared_memory(gl.float32, [128], LINE)
    if CASE == "layout of memory":
        gl.convert_layout(at, ROW)
    if CASE == "partition":
        gl.warp_specialize([(part, (y, LINE)), (part, (y, LINE))], [1], [24])
    if CASE == "three warps":
        gl.warp_specialize([(part, (y, LINE)), (part, (y, LINE))], [3], [24])
    if CASE == "captured tensor":
        gl.warp_specialize([(part, (y, LINE)), (part, (y + at, LINE))], [4], [24])
    if CASE == "several barriers":
        mbarrier.init(mbarrier.allocate_mbarrier(batch=2), count=1)
    if CASE == "no arrivals":
        mbarrier.init(mbarrier.allocate_mbarrier(), count=0)
    if CASE == "phase":
        mbarrier.wait(mbarrier.allocate_mbarrier(), 0.5)


@gluon.jit
def tiles(x, y, CASE: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], TILE)
    plain = gl.allocate_shared_memory(gl.float16, [64, 64], PLAIN)
    acc = gl.zeros([64, 64], gl.float32, MMA)
    if CASE == "slice layout":
        gl.arange(0, 64, gl.SliceLayout(0, SQUARE))[:, None]
    if CASE == "element types":
        warpgroup_mma(tile, gl.allocate_shared_memory(gl.bfloat16, [64, 64], TILE), acc)
    if CASE == "swizzle":
        gl.store(y, gl.sum(gl.sum(warpgroup_mma(plain, tile, acc), 0), 0))
    if CASE == "in flight":
        warpgroup_mma(tile, tile, acc, is_async=True) + 1.0
    if CASE == "operand":
        a = gl.zeros([64, 64], gl.float16, gl.DotOperandLayout(1, SYNC, 2))
        mma_v2(a, a, gl.zeros([64, 64], gl.float32, SYNC))
    ready = mbarrier.allocate_mbarrier()
    if CASE == "coordinates":
        tma.async_load(x, [0], ready, tile)
    if CASE == "block":
        tma.async_load(x, [0, 0], ready, gl.allocate_shared_memory(gl.float16, [32, 64], TILE))
    if CASE == "layout of the block":
        tma.async_load(x, [0, 0], ready, gl.allocate_shared_memory(gl.float16, [64, 64], NARROW))
    if CASE == "descriptor as a pointer":
        gl.store(x, 1.0)


VECTORS = {
    "values in another layout": r"Layout mismatch.*(.|\n)*hint: .*convert_layout",
    "size": r"must be powers of two(.|\n)*hint: take the next power of two",
    "no layout": r"AutoLayout.*use gl\.set_auto_layout",
    "slice past the end": r"a slice of 128 from 64 on leaves dimension 0 .* 128\n(.|\n)*hint: .*a length, not an end",
    "slice not aligned": r"a slice of 32 cannot begin at 24",
    "index": r"index 2 is out of range for 2 buffers",
    "stored type": r"fp16 and destination dtype fp32 must match(.|\n)*hint: cast it",
    "buffer as a tensor": r"hint: .*load it by buffer\.load",
    "buffer in a sum": r"unsupported operand(.|\n)*hint: .*load it by buffer\.load",
    "layout of registers": r"to be a SharedLayout but got BlockedLayout(.|\n)*hint",
    "layout of memory": r"to be a DistributedLayout but got Swizzled(.|\n)*hint",
    "partition": r"over 4 warps, there are 1\n(.|\n)*hint: this is a partition",
    "three warps": r"has 3 warps, no power of two(.|\n)*hint: partitions have 1, 2, 4 or 8",
    "captured tensor": r"partitions share tensors through buffers",
    "several barriers": r"a barrier is a buffer of at most 1(.|\n)*hint: select one",
    "no arrivals": r"count is 0, it must be at least 1",
    "phase": r"the phase must be i32, not f32(.|\n)*hint: the phase is 0 or 1",
}
TILES = {
    "slice layout": r"to be sliced in axis 1 but got 0(.|\n)*hint: gl\.SliceLayout\(1",
    "element types": r"element types fp16 and bf16(.|\n)*hint",
    "swizzle": r"must have the layout of a shared operand(.|\n)*hint: allocate it in gl\.NVMMASharedLayout",
    "in flight": r"unsupported operand(.|\n)*hint: wait for it first",
    "operand": r"operand 0 of mma_v2 must have the layout gl\.DotOperandLayout\(0",
    "coordinates": r"expected 2 coordinates, but got 1",
    "block": r"has blocks of <\[64, 64\], fp16>, the buffer is \[32, 64\]",
    "layout of the block": r"the descriptor's layout is .*128.*, the buffer's .*64(.|\n)*hint",
    "descriptor as a pointer": r"takes a pointer, got tensor_descriptor(.|\n)*hint",
}


def refused(message: str):
    return pytest.raises(TritiumError, match=rf"test_mistakes\.py:\d+:\d+: error: (.|\n)*?{message}")


@pytest.mark.parametrize("case", VECTORS)
def test_mistakes_with_vectors_buffers_and_barriers(case):
    with refused(VECTORS[case]) as error:
        vectors[(1,)](np.zeros(128, np.float32), case)
    assert len(re.findall(": error: ", str(error.value))) == 1


@pytest.mark.parametrize("case", TILES)
def test_mistakes_with_tiles_and_descriptors(case):
    x = TensorDescriptor.from_tensor(np.zeros((64, 64), np.float16), [64, 64], TILE)
    with refused(TILES[case]) as error:
        tiles[(1,)](x, np.zeros(1, np.float32), case)
    assert len(re.findall(": error: ", str(error.value))) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"num_warps": 8}, "over 4 warps, there are 8"), ({"num_ctas": 2}, "over 1 CTAs, there are 2")],
)
def test_another_number_of_warps_or_ctas_is_one_error(options, message):
    with refused(rf"{message}\n(.|\n)*other operations? of the kernel(.|\n)*hint: launch with num_") as error:
        vectors[(1,)](np.zeros(128, np.float32), "correct", **options)
    assert len(re.findall(": error: ", str(error.value))) == 1


@gluon.jit
def expects(x, BYTES: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], TILE)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.expect(ready, BYTES)
    tma.async_load(x, [0, 0], ready, tile)
    mbarrier.wait(ready, 0)


def test_a_wrong_number_of_expected_bytes_is_a_deadlock_with_the_difference():
    x = TensorDescriptor.from_tensor(np.zeros((64, 64), np.float16), [64, 64], TILE)
    with pytest.raises(TritiumError, match="4096 bytes more have been copied than were expected"):
        expects[(1,)](x, 4096)
    with pytest.raises(TritiumError, match="0 of 1 arrivals and 8192 bytes are missing"):
        expects[(1,)](x, 16384)
