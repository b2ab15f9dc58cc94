"""Tiles moved by descriptors, by the copy engine where it can and by pointers where it cannot: made in the kernel or
passed by the host, over types, ranks, boxes and edges; with the engine switched off the results are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.conversion.ttg_to_llvm.harness import aligned
from tritium.runtime import TensorDescriptor


def numbers(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Small whole numbers, at a multiple of 128 bytes."""
    rng = np.random.default_rng(sum(shape))
    return aligned(rng.integers(1, 100, shape).astype(dtype), 128)


def window(x: np.ndarray, at: tuple[int, ...], block: tuple[int, ...], outside: float = 0) -> np.ndarray:
    """The block of an array at `at`, with `outside` where there is nothing."""
    out = np.full(block, outside, x.dtype)
    for place in np.ndindex(*block):
        source = tuple(a + i for a, i in zip(at, place))
        if all(0 <= i < n for i, n in zip(source, x.shape)):
            out[place] = x[source]
    return out


# -- two dimensions -------------------------------------------------------------------------------------------------


@tritium.jit
def copy_made(x, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BM, BN])
    b = tl.make_tensor_descriptor(y, [m, n], [n, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    b.store([i, j], a.load([i, j]) + 1)


@tritium.jit
def copy_given(a, b, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    b.store([i, j], a.load([i, j]) + 1)


TILES = [
    (np.float16, 64, 64, 100, 96),
    (np.float16, 512, 64, 600, 64),
    (np.float32, 32, 128, 70, 200),
    (np.uint8, 16, 256, 33, 304),
    (np.int8, 32, 32, 40, 48),
    (np.int32, 8, 8, 20, 20),
    (np.uint16, 4, 16, 9, 40),
    (np.float64, 16, 16, 20, 18),
    (np.int64, 2, 512, 3, 1024),
]


@pytest.mark.parametrize("without", ["", "tma"])
@pytest.mark.parametrize("how", ["made", "given"])
@pytest.mark.parametrize(("dtype", "block_m", "block_n", "m", "n"), TILES)
def test_tiles_of_every_type(dtype, block_m, block_n, m, n, how, without) -> None:
    x, y = numbers((m, n), dtype), aligned(np.zeros((m, n), dtype), 128)
    grid = (tritium.cdiv(m, block_m), tritium.cdiv(n, block_n))
    if how == "made":
        copy_made[grid](x, y, m, n, BM=block_m, BN=block_n, without=without)
    else:
        box = [block_m, block_n]
        a, b = TensorDescriptor(x, [m, n], [n, 1], box), TensorDescriptor(y, [m, n], [n, 1], box)
        copy_given[grid](a, b, BM=block_m, BN=block_n, without=without)
    np.testing.assert_array_equal(y, x + 1)


@tritium.jit
def rows_alike_made(x, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [m, n], [0, 1], [BM, BN])
    b = tl.make_tensor_descriptor(y, [m, n], [n, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    b.store([i, j], a.load([i, j]) + 1)


@pytest.mark.parametrize("without", ["", "tma"])
@pytest.mark.parametrize("how", ["made", "given"])
def test_a_row_that_stands_for_all(how, without) -> None:
    """A stride of 0, as broadcast tensors and those with one element in a dimension have."""
    x, y = numbers((1, 96)), aligned(np.zeros((40, 96), np.float32), 128)
    if how == "made":
        rows_alike_made[(3, 3)](x, y, 40, 96, BM=16, BN=32, without=without)
    else:
        a, b = TensorDescriptor(x, [40, 96], [0, 1], [16, 32]), TensorDescriptor(y, [40, 96], [96, 1], [16, 32])
        copy_given[(3, 3)](a, b, BM=16, BN=32, without=without)
    np.testing.assert_array_equal(y, np.broadcast_to(x + 1, (40, 96)))


@tritium.jit
def load_at(x, out, m, n, i, j, BM: tl.constexpr, BN: tl.constexpr, EACH: tl.constexpr, PADDING: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BM, BN], padding_option=PADDING)
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(out + at, a.load([i, j * EACH]))


@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("at", [(-3, -1), (10, 3), (2, 1), (-40, 0), (100, 12), (10, 3.75)])
def test_what_is_outside(at, dtype, padding) -> None:
    """Columns in groups of 8, which the engine can begin at, and one that only pointers can."""
    x, out = numbers((20, 40), dtype), np.zeros((16, 32), dtype)
    column, each = int(at[1] * 8), 8 if isinstance(at[1], int) else 1
    load_at[(1,)](x, out, 20, 40, at[0], column // each, BM=16, BN=32, EACH=each, PADDING=padding)
    np.testing.assert_array_equal(out, window(x, (at[0], column), (16, 32), np.nan if padding == "nan" else 0))


@tritium.jit
def load_padded(a, out, i, j, BM: tl.constexpr, BN: tl.constexpr):
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(out + at, a.load([i, j * 8]))


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_what_is_outside_of_the_hosts(padding) -> None:
    x, out = numbers((20, 40), np.float16), np.zeros((16, 64), np.float16)
    load_padded[(1,)](TensorDescriptor(x, [20, 40], [40, 1], [16, 64], padding), out, 7, -2, BM=16, BN=64)
    np.testing.assert_array_equal(out, window(x, (7, -16), (16, 64), np.nan if padding == "nan" else 0))


@tritium.jit
def load_bits(x, out, m, n, i, j, TYPE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, PADDING: tl.constexpr):
    typed = x.to(tl.pointer_type(TYPE), bitcast=True)
    a = tl.make_tensor_descriptor(typed, [m, n], [n, 1], [BM, BN], padding_option=PADDING)
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(out + at, a.load([i, j * 16], cache_modifier=".cg", eviction_policy="evict_last").to(tl.float32))


@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float8e5", "float8e4nv"])
def test_what_numpy_does_not_know(dtype, padding) -> None:
    """Bytes outside cannot be NaN for the engine: pointers do that."""
    raw = np.uint16 if dtype == "bfloat16" else np.uint8
    x = aligned(np.full((20, 48), {"bfloat16": 0x4040, "float8e5": 0x42, "float8e4nv": 0x44}[dtype], raw), 128)
    out = np.zeros((16, 64), np.float32)
    load_bits[(1,)](x, out, 20, 48, 10, -1, TYPE=getattr(tl, dtype), BM=16, BN=64, PADDING=padding)
    filled = window(np.full((20, 48), 3, np.float32), (10, -16), (16, 64), np.nan if padding == "nan" else 0)
    np.testing.assert_array_equal(out, filled)


# -- other ranks ----------------------------------------------------------------------------------------------------


@tritium.jit
def one(x, y, n, B: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [n], [1], [B])
    b = tl.make_tensor_descriptor(y, [n], [1], [B])
    i = tl.program_id(0) * B
    b.store([i], a.load([i]) * 2)


@tritium.jit
def three(x, y, d0, d1, d2, B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [d0, d1, d2], [d1 * d2, d2, 1], [B0, B1, B2])
    b = tl.make_tensor_descriptor(y, [d0, d1, d2], [d1 * d2, d2, 1], [B0, B1, B2])
    i, j, k = tl.program_id(0) * B0, tl.program_id(1) * B1, tl.program_id(2) * B2
    b.store([i, j, k], a.load([i, j, k]) * 2)


@tritium.jit
def four(a, b, B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr, B3: tl.constexpr):
    i, j, k = tl.program_id(0) * B0, tl.program_id(1) * B1, tl.program_id(2) * B2
    b.store([i, j, k, 0], a.load([i, j, k, 0]) * 2)


@tritium.jit
def five(a, b, B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr, B3: tl.constexpr, B4: tl.constexpr):
    i, j, k = tl.program_id(0) * B0, tl.program_id(1) * B1, tl.program_id(2) * B2
    b.store([i, j, k, 0, 0], a.load([i, j, k, 0, 0]) * 2)


@pytest.mark.parametrize(
    ("dtype", "n", "block"), [(np.float32, 1000, 256), (np.float16, 3000, 1024), (np.int8, 99, 16)]
)
def test_one_dimension(dtype, n, block) -> None:
    x, y = numbers((n,), dtype) % 50, aligned(np.zeros(n, dtype), 128)
    one[(tritium.cdiv(n, block),)](aligned(x, 128), y, n, B=block)
    np.testing.assert_array_equal(y, x * 2)


@pytest.mark.parametrize(
    ("shape", "block"), [((5, 6, 72), (2, 4, 64)), ((3, 9, 32), (1, 8, 32)), ((4, 40, 16), (4, 1, 16))]
)
def test_three_dimensions(shape, block) -> None:
    x, y = numbers(shape, np.float16), aligned(np.zeros(shape, np.float16), 128)
    three[tuple(map(tritium.cdiv, shape, block))](x, y, *shape, *block)
    np.testing.assert_array_equal(y, x * 2)


@pytest.mark.parametrize(
    ("kernel", "shape", "block"),
    [(four, (3, 2, 5, 20), (2, 1, 4, 32)), (five, (2, 3, 3, 4, 8), (1, 2, 2, 4, 8))],
    ids=["four", "five"],
)
def test_more_dimensions(kernel, shape, block) -> None:
    x, y = numbers(shape), aligned(np.zeros(shape, np.float32), 128)
    strides = [n // x.itemsize for n in x.strides]
    a, b = (TensorDescriptor(v, list(shape), strides, list(block)) for v in (x, y))
    kernel[tuple(map(tritium.cdiv, shape[:3], block[:3]))](a, b, *block)
    np.testing.assert_array_equal(y, x * 2)


# -- rows that end inside of 16 bytes -------------------------------------------------------------------------------


@tritium.jit
def written_row(x, y, n, B: tl.constexpr, ADDED: tl.constexpr):
    value = tl.load(x + tl.arange(0, B))
    d = tl.make_tensor_descriptor(y, [n], [1], [B])
    if ADDED:
        d.atomic_add([0], value)
    else:
        d.store([0], value)


@tritium.jit
def written_rows(x, d, out, B: tl.constexpr):
    d.store([0, 0], tl.load(x + tl.arange(0, 8)[:, None] * B + tl.arange(0, B)[None, :]))
    tl.debug_barrier()
    tl.store(out + tl.arange(0, 8)[:, None] * B + tl.arange(0, B)[None, :], d.load([0, 0]))


@pytest.mark.parametrize("n", [1, 15, 17, 20, 31, 32])
@pytest.mark.parametrize(("dtype", "added"), [("u1", False), ("f2", False), ("f4", True), ("f4", False), ("i8", False)])
def test_nothing_behind_a_row_is_written(dtype, added, n) -> None:
    """The copy engine writes pieces of 16 bytes, whole: a kernel looks whether rows end inside of one."""
    x, y = numbers((32,), dtype), aligned(np.full(64, 3, dtype), 128)
    kernel = written_row[(1,)](x, y, n, B=32, ADDED=added)
    if "ptx" in kernel.asm:
        assert ("bulk.tensor" in kernel.asm["ptx"]) == (n > 1)  # which is a constant
    np.testing.assert_array_equal(y, np.where(np.arange(64) < n, np.resize(x, 64) + (3 if added else 0), 3))


@tritium.jit
def written_groups(x, y, sizes, groups, R: tl.constexpr, B: tl.constexpr):
    """Tiles of matrices, one behind the other, of as many rows and columns as `sizes` has of each."""
    for g in range(groups):
        rows, columns, stride = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        d = tl.make_tensor_descriptor(y + g * 32 * 64, [rows, columns], [stride, 1], [R, B])
        for i in range(tl.cdiv(rows, R)):
            for j in range(tl.cdiv(columns, B)):
                at = (i * R + tl.arange(0, R))[:, None] * 64 + j * B + tl.arange(0, B)[None, :]
                d.store([i * R, j * B], tl.load(x + g * 32 * 64 + at))


@pytest.mark.share(1)
@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.float32])
def test_each_of_several_tensors_is_looked_at(dtype) -> None:
    sizes = [(32, 64, 64), (31, 61, 64), (17, 48, 64), (32, 33, 48), (1, 1, 64), (0, 16, 64), (16, 63, 64)]
    x = numbers((len(sizes), 32, 64), dtype)
    y = aligned(np.full((len(sizes), 32, 64), 3, dtype), 128)
    wanted = y.copy()
    for g, (rows, columns, stride) in enumerate(sizes):
        flat = wanted[g].reshape(-1)
        for i in range(rows):
            flat[i * stride : i * stride + columns] = x[g, i, :columns]
    kernel = written_groups[(1,)](x, y, np.array(sizes, np.int32), len(sizes), R=16, B=32)
    np.testing.assert_array_equal(y, wanted)
    if "ptx" not in kernel.asm:
        return  # descriptors are pointers
    assert "bulk.tensor" in kernel.asm["ptx"] and "tt.store" in kernel.asm["ttgir"]
    # What writes by pointers computes its addresses where it does so, not in front of the loop.
    text = str(kernel.asm["llir"])
    (by_pointers,) = [block for block in text.split("\n\n") if "mov.b64 $0, $1;" in block]
    assert by_pointers.startswith("else") and "mul " in by_pointers


@tritium.jit
def made_at_once(x, y, z, out_x, out_y, out_z, m, n):
    """Descriptors one after the other, of two types and three ranks, some of which differ in sizes only."""
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [16, 64])
    b = tl.make_tensor_descriptor(x + 8 * n, [m - 8, n], [n, 1], [8, 64])
    c = tl.make_tensor_descriptor(y, [m, n], [n, 1], [16, 32])
    d = tl.make_tensor_descriptor(z, [2, m, n], [m * n, n, 1], [1, 16, 64])
    e = tl.make_tensor_descriptor(out_x, [m, n], [n, 1], [16, 64])
    f = tl.make_tensor_descriptor(out_x + 32 * n, [m, n - 16], [n, 1], [8, 64])
    g = tl.make_tensor_descriptor(out_y, [m, n], [n, 1], [16, 32])
    h = tl.make_tensor_descriptor(out_z, [2, m, n], [m * n, n, 1], [1, 16, 64])
    e.store([0, 0], a.load([8, 0]))
    f.store([1, 8], b.load([0, 8]))
    g.store([0, 32], c.load([2, 0]))
    h.store([1, 0, 0], d.load([1, 3, 0]))


@pytest.mark.share(1)
@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_warps_make_descriptors_of_several_kinds(warps) -> None:
    m, n = 24, 96
    x, y, z = numbers((m, n), np.float16), numbers((m, n), np.float32), numbers((2, m, n), np.float16)
    out_x, out_y = aligned(np.zeros((64, n), np.float16), 128), aligned(np.zeros((m, n), np.float32), 128)
    out_z = aligned(np.zeros((2, m, n), np.float16), 128)
    kernel = made_at_once[(1,)](x, y, z, out_x, out_y, out_z, m, n, num_warps=warps, without="host-maps")
    wanted = np.zeros_like(out_x)
    wanted[:16, :64] = window(x, (8, 0), (16, 64))
    wanted[33:41, 8:72] = window(x[8:], (0, 8), (8, 64))
    np.testing.assert_array_equal(out_x, wanted)
    wanted = np.zeros_like(out_y)
    wanted[:16, 32:64] = y[2:18, :32]
    np.testing.assert_array_equal(out_y, wanted)
    wanted = np.zeros_like(out_z)
    wanted[1, :16, :64] = z[1, 3:19, :64]
    np.testing.assert_array_equal(out_z, wanted)
    if "ptx" in kernel.asm:
        copies = kernel.asm["ptx"].count("tensormap.cp_fenceproxy")
        assert copies == {1: 8, 2: 6, 4: 6, 8: 6, 16: 6}[warps]


@pytest.mark.parametrize("n", [24, 31, 13, 32, 24])
def test_nothing_behind_the_rows_of_the_hosts_is_written(n) -> None:
    """A descriptor whose rows end inside of 16 bytes has a kernel of its own."""
    x, y, out = (
        numbers((8, 32), np.float32),
        aligned(np.full((8, 48), 3, np.float32), 128),
        np.zeros((8, 32), np.float32),
    )
    kernel = written_rows[(1,)](x, TensorDescriptor(y, [7, n], [48, 1], [8, 32]), out, B=32)
    if "ptx" in kernel.asm:
        assert ("bulk.tensor" in kernel.asm["ptx"]) == (n % 4 == 0)
    wanted = np.full((8, 48), 3, np.float32)
    wanted[:7, :n] = x[:7, :n]
    np.testing.assert_array_equal(y, wanted)


@tritium.jit
def matrices(a, b, i, M: tl.constexpr, N: tl.constexpr):
    x = a.load([i, 0, 0]).reshape(M, N)
    b.store([i, 0, 0], tl.trans(x).reshape(1, N, M))


def test_a_dimension_less() -> None:
    x, y = numbers((3, 600, 64), np.float16), aligned(np.zeros((3, 64, 600), np.float16), 128)
    a = TensorDescriptor(x, [3, 600, 64], [600 * 64, 64, 1], [1, 512, 64])
    b = TensorDescriptor(y, [3, 64, 600], [600 * 64, 600, 1], [1, 64, 512])
    matrices[(1,)](a, b, 1, M=512, N=64)
    expected = np.zeros_like(y)
    expected[1, :, :512] = x[1, :512].T
    np.testing.assert_array_equal(y, expected)


# -- control flow ---------------------------------------------------------------------------------------------------


@tritium.jit
def sums(x, y, out, m, n, steps, which, B: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [B, B])
    b = tl.make_tensor_descriptor(y, [m, n], [n, 1], [B, B])
    chosen = a
    if which > 0:
        chosen = b
    total = tl.zeros((B, B), tl.float32)
    for k in range(steps):
        total += chosen.load([k * B, k * 8])
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + at, total)


@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize("which", [0, 1])
def test_a_loop_over_one_of_two(which, steps) -> None:
    x, y, out = numbers((70, 80)), numbers((70, 80)) + 3, np.zeros((16, 16), np.float32)
    y = aligned(y, 128)
    sums[(1,)](x, y, out, 70, 80, steps, which, B=16)
    expected = sum((window((x, y)[which], (k * 16, k * 8), (16, 16)) for k in range(steps)), np.zeros_like(out))
    np.testing.assert_array_equal(out, expected)


@tritium.jit
def groups(x, out, sizes, count, n, B: tl.constexpr):
    """A descriptor for each part, as a grouped product makes them."""
    begin = 0
    for g in range(count):
        rows = tl.load(sizes + g)
        a = tl.make_tensor_descriptor(x + begin * n, [rows, n], [n, 1], [B, B])
        b = tl.make_tensor_descriptor(out + begin * n, [rows, n], [n, 1], [B, B])
        for i in range(tl.cdiv(rows, B)):
            for j in range(tl.cdiv(n, B)):
                b.store([i * B, j * B], a.load([i * B, j * B]) + g)
        begin += rows


def test_a_descriptor_for_each_part() -> None:
    sizes = np.array([5, 16, 1, 33], np.int32)
    x, out = numbers((55, 40)), aligned(np.zeros((55, 40), np.float32), 128)
    groups[(1,)](x, out, sizes, len(sizes), 40, B=16)
    np.testing.assert_array_equal(out, x + np.repeat(np.arange(4), sizes)[:, None])


@tritium.jit
def carried(x, out, n, count, B: tl.constexpr):
    """What one iteration makes the next one uses."""
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    last = tl.make_tensor_descriptor(x, [B, n], [n, 1], [B, B])
    for k in range(count):
        fresh = tl.make_tensor_descriptor(x + (k + 1) * B * n, [B, n], [n, 1], [B, B])
        tl.store(out + k * B * B + at, last.load([0, 0]) - fresh.load([0, 0]))
        last = fresh


def test_a_descriptor_that_is_carried() -> None:
    x, out = numbers((16 * 5, 16)), np.zeros((4, 16, 16), np.float32)
    carried[(1,)](x, out, 16, 4, B=16)
    parts = x.reshape(5, 16, 16)
    np.testing.assert_array_equal(out, parts[:-1] - parts[1:])


@tritium.jit(noinline=True)
def load_there(desc, i, j):
    return desc.load([i, tl.multiple_of(j, 8)])


@tritium.jit
def calls(x, out, m, n, B: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [B, B])
    b = tl.make_tensor_descriptor(out, [m, n], [n, 1], [B, B])
    for i in range(tl.cdiv(m, B)):
        b.store([i * B, 0], load_there(a, i * B, 0) + load_there(a, i * B, 8))


def test_a_function_that_is_called() -> None:
    x, out = numbers((40, 24)), aligned(np.zeros((40, 24), np.float32), 128)
    calls[(1,)](x, out, 40, 24, B=32)
    shifted = np.zeros_like(x)
    shifted[:, :16] = x[:, 8:]
    np.testing.assert_array_equal(out, x + shifted)


# -- in memory ------------------------------------------------------------------------------------------------------


@tritium.jit
def reduced(a, values, i, j, OP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.load(values + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    if OP == "add":
        a.atomic_add([i, j], x)
    elif OP == "min":
        a.atomic_min([i, j], x)
    elif OP == "max":
        a.atomic_max([i, j], x)
    elif OP == "and":
        a.atomic_and([i, j], x)
    elif OP == "or":
        a.atomic_or([i, j], x)
    else:
        a.atomic_xor([i, j], x)


REDUCTIONS = {
    "add": (np.add, (np.float32, np.float16, np.int32, np.uint32)),
    "min": (np.minimum, (np.int32, np.uint32, np.int64, np.float16)),
    "max": (np.maximum, (np.int32, np.uint64, np.float16)),
    "and": (np.bitwise_and, (np.int32, np.uint64)),
    "or": (np.bitwise_or, (np.uint32,)),
    "xor": (np.bitwise_xor, (np.int64,)),
}


@pytest.mark.parametrize(("op", "dtype"), [(op, t) for op, (_, types) in REDUCTIONS.items() for t in types])
def test_reductions_in_memory(op, dtype) -> None:
    x, values = numbers((30, 40), dtype), numbers((16, 32), dtype)
    expected = x.copy()
    expected[20:30, 16:40] = REDUCTIONS[op][0](x[20:30, 16:40], values[:10, :24])
    reduced[(1,)](TensorDescriptor(x, [30, 40], [40, 1], [16, 32]), values, 20, 16, OP=op, BM=16, BN=32)
    np.testing.assert_array_equal(x, expected)


# -- rows -----------------------------------------------------------------------------------------------------------


@tritium.jit
def move_rows(a, b, indices, column, N: tl.constexpr):
    rows = tl.load(indices + tl.arange(0, N))
    b.scatter(a.gather(rows, column) + 1, rows, column)


def test_rows_by_number() -> None:
    x, y = numbers((20, 64)), aligned(np.zeros((20, 64), np.float32), 128)
    indices = np.array([3, 7, 0, 19, 2, 11, 40, 5], np.int32)
    a, b = (TensorDescriptor(v, [20, 64], [64, 1], [1, 32]) for v in (x, y))
    move_rows[(1,)](a, b, indices, 16, N=8)
    expected = np.zeros_like(y)
    for row in indices:
        if row < 20:
            expected[row, 16:48] = x[row, 16:48] + 1
    np.testing.assert_array_equal(y, expected)


@tritium.jit
def rows_and_tiles(pair, out, indices, N: tl.constexpr):
    rows = tl.load(indices + tl.arange(0, N))
    out.store([0, 0], pair[0].gather(rows, 0) + pair[1].load([1, 0]))


def test_parameters_of_both_kinds() -> None:
    """Rows go by pointers, tiles by the engine."""
    x, y, out = numbers((20, 32)), numbers((9, 32)), aligned(np.zeros((8, 32), np.float32), 128)
    indices = np.array([3, 7, 0, 19, 2, 11, 4, 5], np.int32)
    a, b = TensorDescriptor(x, [20, 32], [32, 1], [1, 32]), TensorDescriptor(y, [9, 32], [32, 1], [8, 32])
    rows_and_tiles[(1,)]((a, b), TensorDescriptor(out, [8, 32], [32, 1], [8, 32]), indices, N=8)
    np.testing.assert_array_equal(out, x[indices] + y[1:])
