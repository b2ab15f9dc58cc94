"""What Gluon refuses, and what the emulator finds in kernels that forget to wait: at the line, with the layout."""

import re

import numpy as np
import pytest

from tritium.emulator import EmulationError
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia import hopper
from tritium.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor
from tritium.frontend.errors import CompilationError
from tritium.transforms.gluon.verify_kernel import InvalidKernel

pytestmark = pytest.mark.usefixtures("hopper")

LINE = gl.BlockedLayout([1], [32], [4], [0])
SQUARE = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
TILE = gl.NVMMASharedLayout(128, 16)
MMA = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])


def lines_of(error: EmulationError, name: str) -> list[str]:
    """The code of the kernel's lines that an error names."""
    return re.findall(rf"{name}\.py:\d+:\d+: (.*)", str(error))


@gluon.jit
def loads(x, y, TAIL: gl.constexpr, WAITS: gl.constexpr, LAYOUT: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], x.layout)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.expect(ready, x.nbytes_per_cta)
    tma.async_load(x, [0, 0], ready, buffer)
    if WAITS:
        mbarrier.wait(ready, 0)
    value = buffer.load(LAYOUT)
    mbarrier.wait(ready, 0)
    row = gl.arange(0, 64, gl.SliceLayout(1, LAYOUT))[:, None]
    column = gl.arange(0, 64, gl.SliceLayout(0, LAYOUT))[None, :]
    gl.store(y + row * 64 + column, value)


@pytest.mark.parametrize("waits", [True, False])
def test_a_forgotten_wait_of_an_mbarrier_is_named_with_both_lines(waits):
    x, y = np.ones((64, 64), np.float16), np.zeros((64, 64), np.float16)
    arguments = TensorDescriptor.from_tensor(x, [64, 64], TILE), y, 0, waits, SQUARE
    if waits:
        loads[(1,)](*arguments)
        assert np.array_equal(x, y)
        return
    with pytest.raises(EmulationError, match="has not waited for the mbarrier") as error:
        loads[(1,)](*arguments)
    named = lines_of(error.value, "test_refusals")
    assert "value = buffer.load(LAYOUT)" in named
    assert "tma.async_load(x, [0, 0], ready, buffer)" in named


@gluon.jit
def multiplies(y, FENCE: gl.constexpr, LAYOUT: gl.constexpr, SHARED: gl.constexpr, PARENT: gl.constexpr):
    ones = gl.full([64, 64], 1.0, gl.float16, LAYOUT)
    a = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED)
    b = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED)
    a.store(ones)
    b.store(ones)
    gl.barrier()
    if FENCE:
        fence_async_shared()
    acc = warpgroup_mma(a, b, gl.zeros([64, 64], gl.float32, PARENT))
    row = gl.arange(0, 64, gl.SliceLayout(1, PARENT))[:, None]
    column = gl.arange(0, 64, gl.SliceLayout(0, PARENT))[None, :]
    gl.store(y + row * 64 + column, acc)


@pytest.mark.parametrize("fence", [True, False])
def test_fences_before_wgmma_are_inserted_where_the_kernel_has_none(fence):
    y = np.zeros((64, 64), np.float32)
    kernel = multiplies[(1,)](y, fence, SQUARE, TILE, MMA)
    assert (y == 64).all()
    assert kernel.asm["ptx"].count("fence.proxy.async") == 1


@gluon.jit
def writes(buffer, full, FENCE: gl.constexpr, LAYOUT: gl.constexpr):
    buffer.store(gl.full([64, 64], 1.0, gl.float16, LAYOUT))
    if FENCE:
        fence_async_shared()
    mbarrier.arrive(full, count=1)


@gluon.jit
def copies(buffer, full, y):
    mbarrier.wait(full, 0)
    tma.async_store(y, [0, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def specialized(y, FENCE: gl.constexpr, LAYOUT: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], y.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    gl.warp_specialize([(writes, (buffer, full, FENCE, LAYOUT)), (copies, (buffer, full, y))], [1], [24])


@pytest.mark.parametrize("fence", [True, False])
def test_a_fence_that_a_partition_forgets_is_named_with_its_lines(fence):
    y = np.zeros((64, 64), np.float16)
    arguments = TensorDescriptor.from_tensor(y, [64, 64], TILE), fence, SQUARE
    if fence:
        specialized[(1,)](*arguments)
        assert (y == 1).all()
        return
    with pytest.raises(EmulationError, match="fence") as error:
        specialized[(1,)](*arguments)
    named = lines_of(error.value, "test_refusals")
    assert "tma.async_store(y, [0, 0], buffer)" in named
    assert "buffer.store(gl.full([64, 64], 1.0, gl.float16, LAYOUT))" in named


@gluon.jit
def wrong(y, CASE: gl.constexpr, LAYOUT: gl.constexpr, SHARED: gl.constexpr, PARENT: gl.constexpr):
    x = gl.full([64, 64], 1.0, gl.float16, LAYOUT)
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED, x)
    if CASE == "accumulator":
        warpgroup_mma(buffer, buffer, gl.zeros([64, 64], gl.float32, LAYOUT))
    if CASE == "registers":
        warpgroup_mma(buffer, x, gl.zeros([64, 64], gl.float32, PARENT))
    if CASE == "shapes":
        warpgroup_mma(buffer, buffer, gl.zeros([64, 128], gl.float32, PARENT))
    if CASE == "mix":
        x + gl.full([64, 64], 1.0, gl.float16, PARENT)
    if CASE == "slice":
        gl.arange(0, 64, LAYOUT)
    if CASE == "stored":
        buffer.store(gl.zeros([64, 32], gl.float16, LAYOUT))
    if CASE == "mbarrier":
        mbarrier.wait(buffer, 0)
    if CASE == "descriptor":
        tma.async_store(buffer, [0, 0], buffer)
    if CASE == "async":
        hopper.async_store(x, x, buffer)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("accumulator", r"warpgroup_mma.*NVMMADistributedLayout|NVMMADistributedLayout.*BlockedLayout"),
        ("registers", r"shared memory"),
        ("shapes", r"\[64, 64\] and \[64, 64\] do not give an accumulator of \[64, 128\]"),
        ("mix", r"Layout mismatch in broadcast: BlockedLayout\(.* vs NVMMADistributedLayout\((.|\n)*gl.convert_layout"),
        ("slice", r"tensor shape and layout rank mismatch: the shape \[64\] has 1 dimensions"),
        ("stored", r"source shape \[64, 32\] and destination shape \[64, 64\] must match"),
        ("mbarrier", r"wait takes an mbarrier, got shared_memory_descriptor<fp16(.|\n)*allocate_mbarrier"),
        ("descriptor", r"async_store takes a tensor descriptor with a layout"),
        ("async", r"async_store takes a buffer and a tensor"),
    ],
)
def test_misuse_is_refused_at_its_line(case, message):
    with pytest.raises(CompilationError, match=rf"test_refusals.py:\d+:\d+: error: (.|\n)*({message})"):
        wrong[(1,)](np.zeros(64, np.float32), case, SQUARE, TILE, MMA)


@gluon.jit
def joins(y, first, FIRST: gl.constexpr, N: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffers = gl.allocate_shared_memory(gl.float32, [4, 128], shared)
    begin = buffers.index(first if FIRST is None else FIRST)
    view = joined(begin, N)
    pairs: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    view.store(gl.arange(0, N, pairs).to(gl.float32))
    gl.store(y + gl.arange(0, 128, LINE), buffers.index(3).load(LINE))


@gluon.jit
def joined(begin, N: gl.constexpr):
    return begin._reinterpret(gl.float32, [N], begin.layout)


@pytest.mark.parametrize("constant", [True, False])
def test_a_view_of_several_buffers_is_ordered_with_accesses_to_each(constant):
    y = np.zeros(128, np.float32)
    joins[(1,)](y, 2, 2 if constant else None, 256)  # the emulator checks for races
    assert np.array_equal(y, np.arange(128, 256))


@gluon.jit
def leaves(FIRST: gl.constexpr, N: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffers = gl.allocate_shared_memory(gl.float32, [4, 128], shared)
    buffers.index(FIRST)._reinterpret(gl.float32, [N], shared)


@pytest.mark.parametrize(("first", "n"), [(3, 256), (0, 1024)])
def test_a_view_that_leaves_its_allocation_is_refused(first, n):
    said = rf"a view of {4 * n} bytes cannot begin where its allocation has {2048 - 512 * first} left(.|\n)*hint: "
    with pytest.raises(CompilationError, match=rf"test_refusals.py:\d+:\d+: error: (.|\n)*{said}"):
        leaves[(1,)](first, n)


@pytest.mark.parametrize(("first", "n"), [(3, 256), (None, 1024)])
def test_a_view_that_leaves_the_allocation_of_an_argument_is_refused(first, n):
    message = rf"test_refusals.py:\d+:\d+: error: (.|\n)*has 4096 bits(.|\n)* has {32 * n}"
    with pytest.raises(InvalidKernel, match=message):
        joins[(1,)](np.zeros(128, np.float32), 0, first, n)


def test_a_view_that_leaves_its_allocation_in_a_launch_is_named():
    with pytest.raises(EmulationError, match="outside shared memory") as error:
        joins[(1,)](np.zeros(128, np.float32), 3, None, 256)
    assert "view.store(gl.arange(0, N, pairs).to(gl.float32))" in lines_of(error.value, "test_refusals")
