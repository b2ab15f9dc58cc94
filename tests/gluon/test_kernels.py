"""Gluon kernels on an emulated H100 against NumPy; outputs are poisoned."""

import numpy as np
import pytest

import tritium
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl

pytestmark = pytest.mark.usefixtures("hopper")

BLOCKED = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
COLUMNS = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])
LINE = gl.BlockedLayout([1], [32], [4], [0])
LINEAR = gl.DistributedLinearLayout(
    [[0, 1], [1, 0], [0, 2], [0, 32]], [[0, 4], [0, 8], [0, 16], [2, 0], [4, 0]], [[8, 0], [16, 0]], [], [32, 64]
)


def poisoned(shape, dtype=np.float32):
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else 77, dtype)


@gluon.jit
def masked_copy(x, y, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    gl.store(y + at, gl.load(x + at, at < n, 0.0) * 2, at < n)


@pytest.mark.parametrize("n", [1, 127, 1024, 1500])
def test_masked_copy(n):
    x, y = np.random.randn(2048).astype(np.float32), poisoned(2048)
    masked_copy[(2,)](x, y, n, BLOCK=1024)
    assert np.array_equal(y[:n], x[:n] * 2)
    assert np.isnan(y[n:]).all()


@gluon.jit
def automatic(x, y, ROWS: gl.constexpr, COLS: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.arange(0, ROWS)[:, None] * COLS + gl.arange(0, COLS)[None, :]
    at = gl.set_auto_layout(at, LAYOUT)
    v = gl.load(x + at)
    for i in range(2):
        v -= gl.sum(v, axis=1)[:, None]
    gl.store(y + at, v)


@pytest.mark.parametrize("layout", [BLOCKED, COLUMNS])
def test_automatic_layouts_follow_from_the_one_that_is_set(layout):
    x, y = np.random.randint(-8, 8, (32, 64)).astype(np.float32), poisoned((32, 64))
    automatic[(1,)](x, y, 32, 64, layout)
    want = x
    for _ in range(2):
        want = want - want.sum(1, keepdims=True)
    assert np.array_equal(y, want)


@gluon.jit
def coalesced(x, y, N: gl.constexpr):
    at = gl.arange(0, N, gl.CoalescedLayout())
    gl.store(y + at, gl.load(x + at) + 1)


def test_coalesced_layouts_are_those_of_16_byte_accesses():
    x, y = np.random.randn(2048).astype(np.float16), poisoned(2048, np.float16)
    kernel = coalesced[(1,)](x, y, 2048)
    assert np.array_equal(y, x + np.float16(1))
    assert "sizePerThread = [8]" in kernel.asm["ttgir"]
    assert "ld.global.v4" in kernel.asm["ptx"]


@gluon.jit
def through_memory(
    x, y, ROWS: gl.constexpr, COLS: gl.constexpr, SHARED: gl.constexpr, A: gl.constexpr, B: gl.constexpr
):
    at = gl.arange(0, ROWS, gl.SliceLayout(1, A))[:, None] * COLS + gl.arange(0, COLS, gl.SliceLayout(0, A))[None, :]
    buffer = gl.allocate_shared_memory(x.dtype.element_ty, [2, ROWS, COLS], SHARED)
    half = buffer.index(1)
    half.store(gl.load(x + at))
    turned = half.permute([1, 0]).load(B)
    to = gl.arange(0, COLS, gl.SliceLayout(1, B))[:, None] * ROWS + gl.arange(0, ROWS, gl.SliceLayout(0, B))[None, :]
    gl.store(y + to, turned)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
@pytest.mark.parametrize("shared", ["swizzled", "nvmma", "linear"])
def test_transposes_through_shared_memory(dtype, shared):
    bits = 8 * np.dtype(dtype).itemsize
    layouts = {
        "swizzled": gl.SwizzledSharedLayout(4, 1, 8, [1, 0]),
        "nvmma": gl.NVMMASharedLayout(32, bits),
        "linear": gl.SharedLinearLayout([[0, 1 << i] for i in range(6)] + [[1 << i, 0] for i in range(5)]),
    }
    x = (np.random.randn(32, 64) * 50).astype(dtype)
    y = poisoned((64, 32), dtype)
    through_memory[(1,)](x, y, 32, 64, layouts[shared], BLOCKED, COLUMNS)
    assert np.array_equal(y, x.T)


@gluon.jit
def views(x, y, z, LAYOUT: gl.constexpr):
    rows: gl.constexpr = gl.SliceLayout(1, LAYOUT)
    columns: gl.constexpr = gl.SliceLayout(0, LAYOUT)
    at = gl.arange(0, 32, rows)[:, None] * 32 + gl.arange(0, 32, columns)[None, :]
    part = gl.arange(0, 16, rows)[:, None] * 32 + gl.arange(0, 32, columns)[None, :]
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), gl.load(x + at))
    gl.store(y + part, buffer.slice(16, 16).load(LAYOUT))
    flat = buffer.reshape([1024]).load(gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(z + gl.arange(0, 1024, gl.BlockedLayout([1], [32], [4], [0])), flat)


def test_views_of_buffers():
    x, y, z = np.random.randn(32, 32).astype(np.float32), poisoned((16, 32)), poisoned(1024)
    views[(1,)](x, y, z, BLOCKED)
    assert np.array_equal(y, x[16:])
    assert np.array_equal(z, x.reshape(-1))


@gluon.jit
def stages(x, y, LAYOUT: gl.constexpr):
    at = gl.arange(0, 128, LAYOUT)
    buffers = gl.allocate_shared_memory(gl.float32, [7, 128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    for i in gl.static_range(7):
        buffers.index(i).store(gl.load(x + 128 * i + at))
    last = buffers.slice(3, 3, dim=0)
    for i in range(3):
        gl.store(y + 128 * i + at, last.index(i).load(LAYOUT))


def test_slices_of_several_buffers_begin_anywhere():
    x, y = np.random.randn(7, 128).astype(np.float32), poisoned((3, 128))
    stages[(1,)](x, y, LINE)
    assert np.array_equal(y, x[3:6])


@gluon.jit
def reductions(x, sums, largest, places, LAYOUT: gl.constexpr):
    rows: gl.constexpr = gl.SliceLayout(1, LAYOUT)
    at = gl.arange(0, 32, rows)[:, None] * 64 + gl.arange(0, 64, gl.SliceLayout(0, LAYOUT))[None, :]
    v = gl.load(x + at)
    row = gl.arange(0, 32, rows)
    gl.store(sums + at, gl.associative_scan(v, 1, add))
    gl.store(largest + row, gl.max(v, axis=1))
    gl.store(places + row, gl.sum(gl.where(v > 0, 1, 0), axis=1))


@gluon.jit
def add(a, b):
    return a + b


@pytest.mark.parametrize("layout", [BLOCKED, COLUMNS])
def test_reductions_and_scans(layout):
    x = np.random.randint(-8, 8, (32, 64)).astype(np.float32)
    sums, largest, places = poisoned((32, 64)), poisoned(32), poisoned(32, np.int32)
    reductions[(1,)](x, sums, largest, places, layout)
    assert np.array_equal(sums, np.cumsum(x, axis=1))
    assert np.array_equal(largest, x.max(1))
    assert np.array_equal(places, (x > 0).sum(1))


@gluon.jit
def gathers(x, indices, y, z, counts, LAYOUT: gl.constexpr):
    at = gl.arange(0, 128, LAYOUT)
    i = gl.load(indices + at)
    buffer = gl.allocate_shared_memory(gl.float32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]), gl.load(x + at))
    gl.store(y + at, buffer.gather(i, 0))
    gl.barrier()
    buffer.scatter(gl.load(x + at), 127 - at, 0)
    gl.store(z + at, buffer.load(LAYOUT))
    gl.store(counts + gl.arange(0, 128, LAYOUT), gl.histogram(i, 128, layout=LAYOUT))


def test_gather_scatter_and_histogram():
    layout = gl.BlockedLayout([1], [32], [4], [0])
    x, i = np.random.randn(128).astype(np.float32), np.random.randint(0, 128, 128).astype(np.int32)
    y, z, counts = poisoned(128), poisoned(128), poisoned(128, np.int32)
    gathers[(1,)](x, i, y, z, counts, layout)
    assert np.array_equal(y, x[i])
    assert np.array_equal(z, x[::-1])
    assert np.array_equal(counts, np.bincount(i, minlength=128))


@gluon.jit
def multiply_adds(a, b, c, LAYOUT: gl.constexpr):
    left: gl.constexpr = gl.DotOperandLayout(0, LAYOUT, 0)
    right: gl.constexpr = gl.DotOperandLayout(1, LAYOUT, 0)
    rows = gl.arange(0, 32, gl.SliceLayout(1, LAYOUT))[:, None]
    columns = gl.arange(0, 32, gl.SliceLayout(0, LAYOUT))[None, :]
    at = rows * 32 + columns
    x, y = gl.load(a + at), gl.load(b + at)
    acc = gl.dot_fma(gl.convert_layout(x, left), gl.convert_layout(y, right), gl.zeros([32, 32], gl.float32, LAYOUT))
    gl.store(c + at, acc)


def test_dot_fma():
    a, b = (np.random.randint(-4, 4, (32, 32)).astype(np.float32) for _ in range(2))
    c = poisoned((32, 32))
    multiply_adds[(1,)](a, b, c, BLOCKED)
    assert np.array_equal(c, a @ b)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float16)


@gluon.jit
def unpack(x, y, ROWS: gl.constexpr, COLS: gl.constexpr, AXIS: gl.constexpr, LAYOUT: gl.constexpr, PLAIN: gl.constexpr):
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, PLAIN))[:, None]
    v = gl.load(x + rows * COLS + gl.arange(0, COLS, gl.SliceLayout(0, PLAIN))[None, :])
    v = gl.convert_layout(gl.fp4_to_fp(gl.convert_layout(v, LAYOUT), gl.float16, AXIS), PLAIN)
    rows = gl.arange(0, v.shape[0], gl.SliceLayout(1, PLAIN))[:, None]
    cols = gl.arange(0, v.shape[1], gl.SliceLayout(0, PLAIN))[None, :]
    gl.store(y + rows * v.shape[1] + cols, v)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("layout", [BLOCKED, COLUMNS, LINEAR], ids=["rows", "columns", "linear"])
def test_numbers_of_4_bits_become_neighbours_along_the_axis(layout, axis):
    x = np.random.permutation(32 * 64).astype(np.uint8).reshape(32, 64)  # all 256 pairs
    pairs = np.stack([E2M1[x & 15], E2M1[x >> 4]], axis=1 if axis == 0 else 2)
    want = pairs.reshape((64, 64) if axis == 0 else (32, 128))
    y = poisoned(want.shape, np.float16)
    unpack[(1,)](x, y, 32, 64, axis, layout, BLOCKED)
    assert np.array_equal(y.view(np.uint16), want.view(np.uint16))  # the sign of zero too


@gluon.jit
def unpack_wrong(x, y, ELEMENT: gl.constexpr, AXIS: gl.constexpr, LAYOUT: gl.constexpr):
    v = gl.load(x + gl.arange(0, 128, LAYOUT))
    gl.store(y + gl.arange(0, 256, LAYOUT), gl.fp4_to_fp(v, ELEMENT, AXIS))


@pytest.mark.parametrize(
    "element, axis, dtype, layout, message",
    [
        (gl.float32, 0, np.uint8, LINE, "int8 or uint8 to float16 or bfloat16, not uint8 to fp32"),
        (gl.float16, 0, np.int16, LINE, "not int16 to fp16"),
        (gl.float16, 1, np.uint8, LINE, "axis 1 is out of range for a tensor of rank 1"),
        (gl.float16, 0, np.uint8, gl.AutoLayout(), "no layout of the result follows from AutoLayout"),
    ],
)
def test_what_cannot_be_unpacked(element, axis, dtype, layout, message):
    with pytest.raises(tritium.CompilationError, match=message):
        unpack_wrong[(1,)](np.zeros(128, dtype), np.zeros(256, np.float16), element, axis, layout)


@gluon.jit
def split_again(x, y, LAYOUT: gl.constexpr, M: gl.constexpr, N: gl.constexpr):
    at = gl.arange(0, M, gl.SliceLayout(1, LAYOUT))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, LAYOUT))[None, :]
    value = gl.load(x + at)
    even, odd = gl.split(gl.join(value, value * 2))
    gl.store(y + at, gl.convert_layout(even, LAYOUT) + gl.convert_layout(odd, LAYOUT))


def test_layouts_whose_bases_are_not_powers_of_two():
    x, y = np.random.randint(0, 99, (32, 16), np.int32), np.zeros((32, 16), np.int32)
    lanes = [[2, 0], [4, 0], [8, 0], [0, 2], [0, 4]]
    layout = gl.DistributedLinearLayout([[1, 0], [0, 1]], lanes, [[24, 0], [0, 8]], [], [32, 16])
    split_again[(1,)](x, y, layout, 32, 16)
    assert np.array_equal(y, 3 * x)
