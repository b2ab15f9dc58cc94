"""Gluon kernels on emulated AMD GPUs, gfx942 (CDNA3) and gfx1100 (RDNA3), against NumPy; outputs are poisoned."""

import random
import re

import numpy as np
import pytest

from tests.gluon.test_kernels import poisoned
from tritium.backends.compiler import GPUTarget
from tritium.compiler import compile
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.ampere import mma_v2
from tritium.frontend.gluon.layout_base import DistributedLayout
from tritium.runtime.emulated_hip import EmulatedHIPDriver
from tritium.support import TritiumError, settings

cdna3, rdna3 = gl.amd.cdna3, gl.amd.rdna3


def line(emulated: EmulatedHIPDriver, elements: int = 1, warps: int = 4) -> gl.BlockedLayout:
    return gl.BlockedLayout([elements], [emulated.target.warp_size], [warps], [0])


# -- portable operations ------------------------------------------------------------------------------------------


@gluon.jit
def round_trip(
    x, y, sums, n, ROWS: gl.constexpr, COLS: gl.constexpr, A: gl.constexpr, B: gl.constexpr, S: gl.constexpr
):
    row = gl.arange(0, ROWS, gl.SliceLayout(1, A))[:, None]
    column = gl.arange(0, COLS, gl.SliceLayout(0, A))[None, :]
    at = row * COLS + column
    v = gl.load(x + at, at < n, 1)
    buffer = gl.allocate_shared_memory(v.dtype, [ROWS, COLS], S, v)
    gl.barrier()
    turned = buffer.permute([1, 0]).load(B)
    to_row = gl.arange(0, COLS, gl.SliceLayout(1, B))[:, None]
    to_column = gl.arange(0, ROWS, gl.SliceLayout(0, B))[None, :]
    gl.store(y + to_row * ROWS + to_column, turned)
    gl.store(sums + gl.arange(0, COLS, gl.SliceLayout(1, B)), gl.sum(turned, 1))


def blocked(rng: random.Random, lanes: int) -> DistributedLayout:
    """A layout of 4 warps drawn at random."""
    rows = 1 << rng.randrange(lanes.bit_length())
    warps = rng.choice([[1, 4], [2, 2], [4, 1]])
    sizes = [rng.choice([1, 2]), rng.choice([1, 4])]
    return gl.BlockedLayout(sizes, [rows, lanes // rows], warps, rng.choice([[0, 1], [1, 0]]))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_shared_memory_reductions_and_conversions_in_random_layouts(amd, dtype):
    rng = random.Random(f"{amd.name} {np.dtype(dtype)}")
    lanes = amd.target.warp_size
    for shared in (
        gl.SwizzledSharedLayout(4, 1, 8, [1, 0]),
        gl.PaddedSharedLayout.with_identity_for([[32, 4]], [32, 64], [1, 0]),
    ):
        x = np.random.randint(-3, 4, (32, 64)).astype(dtype)
        y, sums = poisoned((64, 32), dtype), poisoned(64, np.int32 if dtype is np.int8 else dtype)
        round_trip[(1,)](x, y, sums, 1990, 32, 64, blocked(rng, lanes), blocked(rng, lanes), shared)
        want = np.where(np.arange(2048).reshape(32, 64) < 1990, x, 1).astype(dtype)
        assert np.array_equal(y, want.T)
        assert np.array_equal(sums, want.astype(np.int32).sum(0))


@gluon.jit
def partitioned(x, y, L: gl.constexpr, SHARED: gl.constexpr):
    row = gl.arange(0, 64, gl.SliceLayout(1, L))[:, None]
    column = gl.arange(0, 32, gl.SliceLayout(0, L))[None, :]
    buffer = gl.allocate_shared_memory(gl.float16, [64, 32], SHARED, gl.load(x + row * 32 + column))
    gl.barrier()
    buffer.slice(32, 32).store(buffer.slice(0, 32).load(L) + 1)
    gl.barrier()
    gl.store(y + row * 32 + column, buffer.load(L))


@pytest.mark.parametrize("dim", [0, 1])
def test_buffers_in_partitions_are_one_after_another(amd, dim):
    pieces = gl.SwizzledSharedLayout(2, 1, 4, [1, 0])
    shared = gl.amd.cdna5.PartitionedSharedLayout(2, 2, dim, pieces)
    lanes = amd.target.warp_size
    x, y = np.random.randint(-8, 8, (64, 32)).astype(np.float16), poisoned((64, 32), np.float16)
    partitioned[(1,)](x, y, gl.BlockedLayout([1, 2], [lanes // 8, 8], [4, 1], [1, 0]), shared)
    assert np.array_equal(y, np.concatenate([x[:32], x[:32] + 1]))


# -- buffer operations --------------------------------------------------------------------------------------------


@gluon.jit
def cached(x, y, LOAD: gl.constexpr, STORE: gl.constexpr, L: gl.constexpr):
    at = gl.arange(0, 256, L)
    cdna3.buffer_store(cdna3.buffer_load(x, at, cache=LOAD) + 1, y, at, cache=STORE)


@pytest.mark.parametrize(
    ("load", "store", "gfx942", "gfx1100"),
    [
        (None, None, ("", ""), ("", "")),
        (".ca", ".wb", ("", ""), ("", "")),
        (".cg", ".cg", ("", ""), ("", "")),
        (".cs", ".cs", ("nt", "nt"), ("slc dlc", "glc slc dlc")),
        (".cv", ".wt", ("sc0 sc1", "sc0 sc1"), ("glc dlc", "dlc")),
    ],
)
def test_cache_modifiers_of_buffer_operations(amd, load, store, gfx942, gfx1100):
    x, y = np.random.randn(256).astype(np.float32), poisoned(256)
    kernel = cached[(1,)](x, y, load, store, line(amd))
    assert np.array_equal(y, x + 1)
    want = gfx1100 if amd.target.warp_size == 32 else gfx942
    for instruction, bits in zip(("load", "store"), want):
        found = re.findall(rf"buffer_{instruction}_\w+ .* 0 offen(?: offset:\d+)? ?(.*)", kernel.asm["amdgcn"])
        assert found
        assert set(found) == {bits}


@gluon.jit
def buffers(x, y, n, N: gl.constexpr, OTHER: gl.constexpr, L: gl.constexpr):
    at = gl.arange(0, N, L)
    v = cdna3.buffer_load(x, at, mask=at < n, other=OTHER, cache=".ca")
    cdna3.buffer_store(v + v, y, N - 1 - at, mask=at < N - 8)


@pytest.mark.parametrize(("dtype", "elements"), [("f4", 4), ("f2", 8), ("i1", 16), ("i8", 1), ("i4", 2)])
def test_buffer_loads_and_stores_with_masks(amd, dtype, elements):
    x, y = np.random.randint(-8, 8, 2048).astype(dtype), poisoned(2048, np.dtype(dtype))
    kernel = buffers[(1,)](x, y, 1000, 2048, 3, line(amd, elements))
    want = np.where(np.arange(2048) < 1000, x, 3).astype(dtype)
    assert np.array_equal(y[8:], (want + want)[::-1][8:])
    assert np.array_equal(y[:8], poisoned(8, np.dtype(dtype)), equal_nan=dtype[0] == "f")
    assert "buffer_load" in kernel.asm["amdgcn"]
    assert "buffer_store" in kernel.asm["amdgcn"]


@gluon.jit
def automatic(x, y, N: gl.constexpr, L: gl.constexpr):
    at = gl.arange(0, N)
    v = cdna3.buffer_load(x, at, mask=at < 100, other=0.0)
    cdna3.buffer_store(gl.set_auto_layout(v, L), y, gl.arange(0, N, L))


def test_layouts_of_buffer_operations_are_inferred(amd):
    x, y = np.random.randn(256).astype(np.float32), poisoned(256)
    automatic[(1,)](x, y, 256, line(amd))
    assert np.array_equal(y, np.where(np.arange(256) < 100, x, 0))


@gluon.jit
def updates(x, values, old, n, N: gl.constexpr, L: gl.constexpr, UPDATE: gl.constexpr, SHARED_BY: gl.constexpr):
    at = gl.arange(0, N, L)
    before = UPDATE(x, at // SHARED_BY, gl.load(values + at), mask=at < n)
    cdna3.buffer_store(before, old, at, mask=at < n)


@pytest.mark.parametrize("shared_by", [1, 4])
@pytest.mark.parametrize(
    ("update", "reference", "dtype", "elements"),
    [
        (cdna3.buffer_atomic_add, np.add, "i4", 1),
        (cdna3.buffer_atomic_add, np.add, "f4", 1),
        (cdna3.buffer_atomic_add, np.add, "f2", 2),
        (cdna3.buffer_atomic_add, np.add, "f8", 1),
        (cdna3.buffer_atomic_max, np.maximum, "i8", 1),
        (cdna3.buffer_atomic_max, np.maximum, "u4", 2),
        (cdna3.buffer_atomic_min, np.minimum, "i4", 1),
        (cdna3.buffer_atomic_and, np.bitwise_and, "u8", 1),
        (cdna3.buffer_atomic_or, np.bitwise_or, "i4", 1),
    ],
)
def test_buffer_atomics(amd, update, reference, dtype, elements, shared_by):
    x, values = (np.random.randint(0, 50, 256).astype(dtype) for _ in range(2))
    if dtype[0] == "u":
        x[::3] += np.array(1 << 31, dtype)
    want, before, old = x.copy(), x.copy(), poisoned(256, np.dtype(dtype))
    reference.at(want, np.arange(192) // shared_by, values[:192])
    kernel = updates[(1,)](x, values, old, 192, 256, line(amd, elements, 2), update, shared_by, num_warps=2)
    assert np.array_equal(x, want)
    if shared_by == 1:
        assert np.array_equal(old[:192], before[:192])
    assert np.array_equal(old[192:], poisoned(64, np.dtype(dtype)), equal_nan=dtype[0] == "f")
    if dtype not in ("f2", "f8"):
        assert "buffer_atomic" in kernel.asm["amdgcn"]
    if (dtype, shared_by, amd.name) == ("f2", 1, "emulated:gfx942"):
        assert "buffer_atomic_pk_add_f16" in kernel.asm["amdgcn"]


@gluon.jit
def exchanged(x, y, sums, L: gl.constexpr, WIDE: gl.constexpr):
    at = gl.arange(0, 64, L)
    gl.store(y + at, cdna3.buffer_atomic_xchg(x, at, at + 100, sem="relaxed", scope="cta"))
    copies = gl.arange(0, 4, WIDE)
    cdna3.buffer_atomic_xor(x, copies + 64, 5, scope="sys")
    gl.store(sums + copies, cdna3.buffer_atomic_add(x, copies + 128, 1))


def test_buffer_atomics_on_replicated_elements_happen_once(amd):
    x = np.arange(256, dtype=np.int32)
    y, sums = poisoned(64, np.int32), poisoned(4, np.int32)
    exchanged[(1,)](x, y, sums, line(amd), line(amd, 2))
    assert np.array_equal(y, np.arange(64))
    assert np.array_equal(x[:64], np.arange(100, 164))
    assert np.array_equal(x[64:68], np.arange(64, 68) ^ 5)
    assert np.array_equal(sums, np.arange(128, 132))
    assert np.array_equal(x[128:132], np.arange(129, 133))


# -- matrix instructions ------------------------------------------------------------------------------------------


@gluon.jit
def matmul(
    a,
    b,
    c,
    M: gl.constexpr,
    N: gl.constexpr,
    K: gl.constexpr,
    MULTIPLY: gl.constexpr,
    T: gl.constexpr,
    ACC: gl.constexpr,
    L: gl.constexpr,
    WIDTH: gl.constexpr,
    LOAD: gl.constexpr,
):
    left: gl.constexpr = gl.DotOperandLayout(0, L, WIDTH)
    right: gl.constexpr = gl.DotOperandLayout(1, L, WIDTH)
    am = gl.arange(0, M, gl.SliceLayout(1, LOAD))[:, None]
    ak = gl.arange(0, K, gl.SliceLayout(0, LOAD))[None, :]
    tile = gl.allocate_shared_memory(T, [M, K], gl.SwizzledSharedLayout(4, 1, 4, [1, 0]))
    tile.store(cdna3.buffer_load(a, am * K + ak).to(T))
    bk = gl.arange(0, K, gl.SliceLayout(1, right))[:, None]
    bn = gl.arange(0, N, gl.SliceLayout(0, right))[None, :]
    gl.barrier()
    acc = MULTIPLY(tile.load(left), gl.load(b + bk * N + bn).to(T), gl.full([M, N], 1, ACC, L))
    cm = gl.arange(0, M, gl.SliceLayout(1, L))[:, None]
    cn = gl.arange(0, N, gl.SliceLayout(0, L))[None, :]
    cdna3.buffer_store(acc.to(gl.float32), c, cm * N + cn)


def check_matmul(multiply, T, acc, layout, width, lanes, m=64, n=64, k=64):
    a, b = (np.random.randint(-3, 4, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    c = poisoned((m, n))
    load = gl.BlockedLayout([1, 4], [lanes // 8, 8], [4, 1], [1, 0])
    kernel = matmul[(1,)](a, b, c, m, n, k, multiply, T, acc, layout, width, load)
    assert np.array_equal(c, a @ b + 1)
    return kernel.asm["amdgcn"]


@pytest.mark.parametrize(
    ("T", "shape", "width", "instruction"),
    [
        (gl.float16, [32, 32, 8], 4, "v_mfma_f32_32x32x8_f16"),
        (gl.float16, [16, 16, 16], 8, "v_mfma_f32_16x16x16_f16"),
        (gl.bfloat16, [16, 16, 16], 4, "v_mfma_f32_16x16x16_bf16"),
        (gl.float32, [32, 32, 2], 1, "v_mfma_f32_32x32x2_f32"),
        (gl.float8e4b8, [32, 32, 16], 8, "v_mfma_f32_32x32x16_fp8_fp8"),
        (gl.float8e5b16, [16, 16, 32], 8, "v_mfma_f32_16x16x32_bf8_bf8"),
        (gl.int8, [16, 16, 32], 16, "v_mfma_i32_16x16x32_i8"),
    ],
)
@pytest.mark.usefixtures("cdna3")
def test_mfma(T, shape, width, instruction):
    acc = gl.int32 if T is gl.int8 else gl.float32
    layout = gl.amd.AMDMFMALayout(3, shape, width != 1, random.Random(str(T)).choice([[2, 2], [4, 1], [1, 4]]))
    assert instruction in check_matmul(cdna3.mfma, T, acc, layout, width, 64)


@pytest.mark.usefixtures("cdna3")
def test_mfma_of_doubles_and_of_several_tiles_per_warp():
    double = gl.amd.AMDMFMALayout(3, [16, 16, 4], False, [2, 2], element_bitwidth=64)
    assert "v_mfma_f64_16x16x4_f64" in check_matmul(cdna3.mfma, gl.float64, gl.float64, double, 1, 64, k=32)
    tiles = gl.amd.AMDMFMALayout(3, [16, 16, 16], True, [2, 2], tiles_per_warp=[2, 2])
    check_matmul(cdna3.mfma, gl.float16, gl.float32, tiles, 4, 64, m=128)


@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("T", [gl.float16, gl.bfloat16, gl.int8])
@pytest.mark.parametrize("amd", ["gfx1100"], indirect=True)
@pytest.mark.usefixtures("amd")
def test_wmma(T, transposed):
    acc = gl.int32 if T is gl.int8 else gl.float32
    layout = gl.amd.AMDWMMALayout(1, transposed, [[0, 1], [1, 0]], [[2, 0]] if transposed else None)
    assert "v_wmma" in check_matmul(rdna3.wmma, T, acc, layout, 16, 32)


# -- values in registers ------------------------------------------------------------------------------------------


@gluon.jit
def sliced(x, y, L: gl.constexpr):
    row = gl.arange(0, 64, gl.SliceLayout(1, L))[:, None]
    column = gl.arange(0, 128, gl.SliceLayout(0, L))[None, :]
    part = gl.amd.slice(gl.load(x + row * 128 + column), [32, 64], [32, 64])
    gl.amd.hint.sched_barrier()
    row = gl.arange(0, 32, gl.SliceLayout(1, L))[:, None]
    column = gl.arange(0, 64, gl.SliceLayout(0, L))[None, :]
    gl.store(y + row * 64 + column, part)


def test_slices_of_registers(amd):
    x, y = np.random.randn(64, 128).astype(np.float32), poisoned((32, 64))
    lanes = amd.target.warp_size
    kernel = sliced[(1,)](x, y, gl.BlockedLayout([1, 2], [lanes // 8, 8], [4, 1], [1, 0]))
    assert np.array_equal(y, x[32:, 64:])
    assert "@llvm.amdgcn.sched.barrier(i32 0)" in kernel.asm["llir"]


@gluon.jit
def upcast(bytes, scales, y, AXIS: gl.constexpr, T: gl.constexpr, L: gl.constexpr, OUT: gl.constexpr):
    row = gl.arange(0, 16, gl.SliceLayout(1, L))[:, None]
    column = gl.arange(0, 32, gl.SliceLayout(0, L))[None, :]
    v = gl.load(bytes + row * 32 + column)
    width: gl.constexpr = 32 if AXIS is None else 64
    row = gl.arange(0, 16, gl.SliceLayout(1, OUT))[:, None]
    column = gl.arange(0, width, gl.SliceLayout(0, OUT))[None, :]
    scale = gl.load(scales + row * width + column)
    if AXIS is None:
        wide = cdna3.scaled_upcast(v.to(gl.float8e5, bitcast=True), scale, T)
    else:
        wide = cdna3.scaled_upcast(v, scale, T, axis=AXIS)
    gl.store(y + row * width + column, wide.to(gl.float32))


@pytest.mark.parametrize("T", [gl.float16, gl.bfloat16])
@pytest.mark.usefixtures("cdna3")
def test_scaled_upcasts_of_8_and_4_bit_floats(T):
    narrow = gl.BlockedLayout([1, 4], [8, 8], [4, 1], [1, 0])
    halves = np.random.randint(-8, 8, (16, 32)).astype(np.float16)  # e5m2 is the upper byte of such numbers
    bytes, scales = (halves.view(np.uint16) >> 8).astype(np.uint8), np.random.randint(124, 131, (16, 32), np.uint8)
    y = poisoned((16, 32))
    exact = (bytes.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    upcast[(1,)](bytes, scales, y, None, T, narrow, narrow)
    assert np.array_equal(y, exact * 2.0 ** (scales.astype(np.int32) - 127))
    y, scales = poisoned((16, 64)), np.random.randint(124, 131, (16, 64), np.uint8)
    upcast[(1,)](bytes, scales, y, 1, T, narrow, gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0]))
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    codes = np.stack([bytes & 15, bytes >> 4], -1).reshape(16, 64)
    want = values[codes & 7] * np.where(codes & 8, -1, 1) * 2.0 ** (scales.astype(np.int32) - 127)
    assert np.array_equal(y, want)


# -- interpreted --------------------------------------------------------------------------------------------------


def test_instructions_of_amd_gpus_are_interpreted(monkeypatch):
    monkeypatch.setattr(settings.runtime, "interpret", True)
    layout = gl.BlockedLayout([1], [64], [4], [0])
    x, y = np.random.randint(-8, 8, 256).astype(np.float32), poisoned(256)
    buffers[(1,)](x, y, 100, 256, 3, layout)
    assert np.array_equal(y[8:], (2 * np.where(np.arange(256) < 100, x, 3))[::-1][8:])
    x, values, old = np.zeros(256, np.int32), np.arange(256, dtype=np.int32), poisoned(256, np.int32)
    updates[(1,)](x, values, old, 192, 256, layout, cdna3.buffer_atomic_add, 4)
    assert np.array_equal(x[:48], values[:192].reshape(48, 4).sum(1))
    a, b, c = np.ones((64, 64), np.float32), np.ones((64, 64), np.float32), poisoned((64, 64))
    mfma = gl.amd.AMDMFMALayout(3, [32, 32, 8], True, [2, 2])
    load = gl.BlockedLayout([1, 4], [8, 8], [4, 1], [1, 0])
    matmul[(1,)](a, b, c, 64, 64, 64, cdna3.mfma, gl.float16, gl.float32, mfma, 4, load)
    assert (c == 65).all()
    square = gl.BlockedLayout([1, 2], [8, 8], [4, 1], [1, 0])
    x, y = np.random.randn(64, 128).astype(np.float32), poisoned((32, 64))
    sliced[(1,)](x, y, square)
    assert np.array_equal(y, x[32:, 64:])
    bytes, scales, y = np.full((16, 32), 0x3C, np.uint8), np.full((16, 32), 128, np.uint8), poisoned((16, 32))
    upcast[(1,)](bytes, scales, y, None, gl.float16, load, load)
    assert (y == 2).all()


# -- stages -------------------------------------------------------------------------------------------------------


def source_of(layout: DistributedLayout) -> gluon.GluonASTSource:
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "N": "constexpr", "OTHER": "constexpr", "L": "constexpr"}
    return gluon.GluonASTSource(buffers, signature, {"N": 256, "OTHER": 0, "L": layout})


@pytest.mark.parametrize(("arch", "lanes"), [("gfx942", 64), ("gfx1100", 32)])
def test_kernels_compile_to_code_objects(arch, lanes):
    kernel = compile(source_of(gl.BlockedLayout([1], [lanes], [4], [0])), target=GPUTarget("hip", arch, lanes))
    assert {"source", "ttgir", "llir", "amdgcn", "hsaco"} <= set(kernel.asm)
    assert kernel.asm["hsaco"].startswith(b"\x7fELF")
    assert "amdg.buffer_load" in kernel.asm["ttgir"]


# -- refusals -----------------------------------------------------------------------------------------------------


@gluon.jit
def wrong(x, CASE: gl.constexpr, L: gl.constexpr):
    at = gl.arange(0, 64, L)
    if CASE == "pointers":
        cdna3.buffer_load(x + at, at)
    if CASE == "offsets":
        cdna3.buffer_load(x, at.to(gl.int64))
    if CASE == "other":
        cdna3.buffer_load(x, at, other=0.0)
    if CASE == "type":
        cdna3.buffer_store(at, x, at)
    if CASE == "atomic":
        cdna3.buffer_atomic_and(x, at, 1)
    if CASE == "barrier":
        gl.amd.hint.sched_barrier("valu")
    if CASE == "slice":
        gl.store(x, gl.sum(gl.amd.slice(at, [32], [16]), 0).to(gl.float32))
    if CASE == "beyond":
        gl.amd.slice(at, [32], [48])
    if CASE == "copy":
        buffer = gl.allocate_shared_memory(gl.float32, [64], gl.SwizzledSharedLayout(1, 1, 1, [0]))
        gl.amd.cdna4.async_copy.buffer_load_to_shared(buffer, x, at)
    if CASE == "cdna4":
        gl.amd.cdna4.mfma_scaled(at, None, "e2m1", at, None, "e2m1", at)
    if CASE == "cdna5":
        gl.amd.cdna5.tdm.async_wait(0)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("pointers", r"ptr of buffer_load must be one pointer(.|\n)*hint: the base address alone"),
        ("offsets", r"offsets of buffer_load must be int32 or uint32, got int64"),
        ("other", r"other is given without a mask"),
        ("type", r"buffer_store of int32 through a pointer to fp32"),
        ("atomic", r"buffer_atomic_and of fp32 is not supported(.|\n)*it takes int32, int64"),
        ("barrier", r"Unsupported instruction class: 'valu'"),
        ("beyond", r"slice: offset \[48\] \+ shape \[32\] exceeds source shape \[64\]"),
        ("cdna4", r"mfma_scaled is an instruction of CDNA4 GPUs \(gfx950\), for which Gluon is not compiled yet"),
        ("cdna5", r"async_wait is an instruction of CDNA5 GPUs \(gfx1250\), for which Gluon is not compiled yet"),
        ("slice", r"each thread must hold the same part of a tile in both"),
        ("copy", r"amdg.buffer_load_to_local is not supported on AMD GPUs \(hip:gfx942\)"),
    ],
)
@pytest.mark.usefixtures("cdna3")
def test_misuse_is_refused_at_its_line(case, message):
    with pytest.raises(TritiumError, match=rf"test_amd.py:\d+:\d+: error: (.|\n)*({message})"):
        wrong[(1,)](np.zeros(64, np.float32), case, gl.BlockedLayout([1], [64], [4], [0]))


@gluon.jit
def dots(x, MULTIPLY: gl.constexpr, ACC: gl.constexpr, L: gl.constexpr, LEFT: gl.constexpr, RIGHT: gl.constexpr):
    left, right = gl.full([64, 32], 1, gl.float16, LEFT), gl.full([32, 64], 1, gl.float16, RIGHT)
    acc = MULTIPLY(left, right, gl.zeros([64, 64], ACC, L))
    gl.store(x, gl.sum(gl.sum(acc.to(gl.float32), 1), 0))


MFMA = gl.amd.AMDMFMALayout(3, [32, 32, 8], True, [2, 2])
WMMA = gl.amd.AMDWMMALayout(1, True, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("arch", "change", "message"),
    [
        ("gfx942", {"LEFT": gl.BlockedLayout([1, 8], [16, 4], [4, 1], [1, 0])}, r"operand 0 of mfma(.|\n)*not Blocked"),
        ("gfx942", {"LEFT": gl.DotOperandLayout(1, MFMA, 4)}, r"operand 0 of mfma(.|\n)*hint: gl.convert_layout"),
        ("gfx942", {"L": gl.amd.AMDMFMALayout(4, [32, 32, 16], True, [2, 2])}, r"not on hip:gfx942, it has MFMA of v"),
        ("gfx942", {"L": gl.amd.AMDMFMALayout(3, [32, 32, 16], True, [2, 2])}, r"32x32x16 of version 3, there are 32x"),
        ("gfx942", {"ACC": gl.float16}, r"an accumulator of f16; that of mfma.f32.32x32x8f16 is f32"),
        (
            "gfx942",
            {"L": gl.BlockedLayout([1, 8], [16, 4], [4, 1], [1, 0]), "OPERANDS": MFMA},
            r"accumulator of mfma must have an AMDMF",
        ),
        ("gfx942", {"MULTIPLY": rdna3.wmma, "L": WMMA}, r"wmma needs warps of 32 threads(.|\n)*cdna3.mfma"),
        ("gfx1100", {}, r"mfma needs warps of 64 threads, those of the target have 32(.|\n)*hint: gl.amd.rdna3.wmma"),
        ("gfx1100", {"MULTIPLY": rdna3.wmma}, r"AMDWMMALayout of version 1, not AMDMFMALayout(.|\n)*hint: such as"),
    ],
)
def test_wrong_layouts_of_matrix_instructions_are_refused_at_their_line(arch, change, message):
    constants = {"MULTIPLY": cdna3.mfma, "ACC": gl.float32, "L": MFMA} | change
    for side, name in enumerate(("LEFT", "RIGHT")):
        width = 8 if constants["L"] is WMMA else 4
        constants.setdefault(name, gl.DotOperandLayout(side, constants.get("OPERANDS", constants["L"]), width))
    constants.pop("OPERANDS", None)
    source = gluon.GluonASTSource(dots, {"x": "*fp32"} | dict.fromkeys(constants, "constexpr"), constants)
    target = GPUTarget("hip", arch, 64 if arch == "gfx942" else 32)
    with pytest.raises(TritiumError, match=rf"test_amd.py:\d+:\d+: error: (.|\n)*({message})"):
        compile(source, target=target)


@pytest.mark.parametrize(
    ("target", "multiply", "layout", "message"),
    [
        (GPUTarget("cuda", 90, 32), rdna3.wmma, WMMA, "WMMA of version 1: not on cuda:90, it has no WMMA"),
        (
            GPUTarget("hip", "gfx1100", 32),
            mma_v2,
            gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8]),
            "tt.dot needs MMA instructions of NVIDIA GPUs; hip:gfx1100 has none",
        ),
    ],
)
def test_matrix_instructions_of_another_maker_are_refused_at_their_line(target, multiply, layout, message):
    constants = {"MULTIPLY": multiply, "ACC": gl.float32, "L": layout}
    width = 8 if layout is WMMA else 2
    constants |= {name: gl.DotOperandLayout(side, layout, width) for side, name in enumerate(("LEFT", "RIGHT"))}
    source = gluon.GluonASTSource(dots, {"x": "*fp32"} | dict.fromkeys(constants, "constexpr"), constants)
    with pytest.raises(TritiumError, match=rf"test_amd.py:\d+:\d+: error: (.|\n)*({message})"):
        compile(source, target=target)


def test_other_amd_gpus_are_refused_with_those_that_kernels_compile_for():
    layout = gl.BlockedLayout([1], [64], [4], [0])
    with pytest.raises(TritiumError, match="compiled for gfx942 and gfx1100 of AMD's GPUs, not for gfx950"):
        compile(source_of(layout), target=GPUTarget("hip", "gfx950", 64))
