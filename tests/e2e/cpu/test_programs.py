"""Control flow, memory and grids on the CPU: whole kernels, each with a NumPy twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tritium
from tests.e2e.buffers import EPSILON, Buffer, assert_close, assert_equal
from tests.e2e.kernels import kernel_from
from tests.e2e.philox import philox, uniform

# ---- control flow --------------------------------------------------------------------------------------------------

COLLATZ = """
@triton.jit
def kernel(out_ptr, limit):
    n = tl.program_id(0) + 1
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(out_ptr + tl.program_id(0), steps)
"""


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def test_while_and_if(tmp_path: Path) -> None:
    out = Buffer((100,), "i32")
    kernel_from(COLLATZ, tmp_path)[(100,)](out.tensor, 100)
    assert_equal(out, np.array([collatz(n + 1) for n in range(100)]))


EARLY = """
@triton.jit
def kernel(out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid % 2 == 1:
        return
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, pid.to(tl.float32), mask=offsets < n)
"""


def test_early_return(tmp_path: Path) -> None:
    out = Buffer((40,))
    kernel_from(EARLY, tmp_path)[(3,)](out.tensor, 40, BLOCK=16)
    out.check_fence()
    got = out.values
    assert np.array_equal(got[:16], np.zeros(16))
    assert np.isnan(got[16:32]).all(), "a program that returned early wrote"
    assert np.array_equal(got[32:], np.full(8, 2.0))


LOOPS = """
@triton.jit
def triangle(n):
    total = 0
    for i in range(n):
        total += i
    return total

@triton.jit
def kernel(out_ptr, low, high, step, STATIC: tl.constexpr):
    a = 0
    for i in range(low, high, step):
        a = a * 3 + i
    b = tl.zeros((4,), tl.int32)
    for i in tl.static_range(STATIC):
        b += i * tl.arange(0, 4)
    c = 0
    for i in range(high):
        if i % 3 == 0:
            c += triangle(i)
        elif i % 3 == 1:
            c -= i
    d = 0
    for i in range(10, 0, -3):
        d = d * 10 + i
    tl.store(out_ptr, a)
    tl.store(out_ptr + 1, c)
    tl.store(out_ptr + 2, d)
    tl.store(out_ptr + 4 + tl.arange(0, 4), b)
"""


@pytest.mark.parametrize("bounds", [(0, 7, 1), (2, 17, 4), (5, 5, 1), (9, 3, 2)])
def test_loops(bounds: tuple[int, int, int], tmp_path: Path) -> None:
    out = Buffer((8,), "i32", np.zeros(8))
    kernel_from(LOOPS, tmp_path)[(1,)](out.tensor, *bounds, STATIC=5)
    a, c, d = 0, 0, 0
    for i in range(*bounds):
        a = a * 3 + i
    for i in range(bounds[1]):
        c += i * (i - 1) // 2 if i % 3 == 0 else -i if i % 3 == 1 else 0
    for i in range(10, 0, -3):
        d = d * 10 + i
    assert_equal(out, np.array([a, c, d, 0, 0, 10, 20, 30]))


BRANCHES = """
@triton.jit
def kernel(x_ptr, out_ptr, scale, FLAG: tl.constexpr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if FLAG is not None:
        x = x + FLAG
    y = x * 2 if scale > 0 else x * -1
    if scale == 3 and (scale > 0 or scale < -5):
        y += 100
    if not scale > 0:
        z = x
    else:
        z = y
    tl.store(out_ptr + tl.arange(0, BLOCK), z)
"""


@pytest.mark.parametrize("scale", [-7, 0, 2, 3])
@pytest.mark.parametrize("flag", [None, 10])
def test_branches(scale: int, flag: int | None, rng, tmp_path: Path) -> None:
    x, out = Buffer((64,), values=rng.integers(-50, 50, 64)), Buffer((64,))
    kernel_from(BRANCHES, tmp_path)[(1,)](x.tensor, out.tensor, scale, FLAG=flag, BLOCK=64)
    v = x.values + (flag or 0)
    y = v * 2 if scale > 0 else -v
    y = y + 100 if scale == 3 else y
    assert_equal(out, y if scale > 0 else v)


# ---- grids ---------------------------------------------------------------------------------------------------------

GRID = """
@triton.jit
def kernel(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out_ptr + (x * ny + y) * nz + z, x * 10000 + y * 100 + z + nx * 1000000)
"""


@pytest.mark.parametrize("shape", [(7,), (3, 5), (4, 3, 2), (1, 1, 9), (2, 0, 3), (100, 3)], ids=str)
@pytest.mark.parametrize("threads", [1, 0, 3])
def test_every_program_runs_once(shape: tuple[int, ...], threads: int, tmp_path: Path) -> None:
    full = (*shape, 1, 1)[:3]
    out = Buffer(full, "i32")
    kernel_from(GRID, tmp_path)[shape](out.tensor, num_threads=threads)
    x, y, z = np.indices(full)
    assert_equal(out, x * 10000 + y * 100 + z + full[0] * 1000000)


# ---- memory --------------------------------------------------------------------------------------------------------

MASKED = """
@triton.jit
def kernel(x_ptr, out_ptr, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    x = tl.load(x_ptr + i[:, None] * stride + j[None, :], mask=mask, other=-1.0)
    tl.store(out_ptr + i[:, None] * N + j[None, :], x)
"""


@pytest.mark.parametrize("rows, columns", [(1, 1), (5, 7), (8, 32), (3, 31), (0, 5)])
def test_masked_load_fills_with_other(rows: int, columns: int, rng, tmp_path: Path) -> None:
    values = rng.standard_normal((rows, columns)).astype(np.float32)
    x, out = Buffer((rows, columns), values=values, strides=(columns + 3, 1)), Buffer((8, 32))
    kernel_from(MASKED, tmp_path)[(1,)](x.tensor, out.tensor, rows, columns, columns + 3, M=8, N=32)
    expected = np.full((8, 32), -1.0)
    expected[:rows, :columns] = values
    assert_equal(out, expected)


GATHER = """
@triton.jit
def kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    index = tl.load(index_ptr + offsets, mask=mask, other=0)
    x = tl.load(x_ptr + index, mask=mask & (index >= 0), other=7.0)
    tl.store(out_ptr + index * 2, x, mask=mask & (index >= 0))
"""


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "i8", "i64"])
def test_gather_and_scatter(dtype: str, rng, tmp_path: Path) -> None:
    n = 300
    x = Buffer((n,), dtype, rng.integers(0, 100, n))
    order = rng.permutation(n)
    order[::7] = -1
    index, out = Buffer((n,), "i32", order), Buffer((2 * n,), dtype, np.zeros(2 * n))
    kernel_from(GATHER, tmp_path)[(1,)](x.tensor, index.tensor, out.tensor, n, BLOCK=512)
    expected = np.zeros(2 * n)
    kept = order[order >= 0]
    expected[2 * kept] = x.values[kept]
    assert_equal(out, expected)


BLOCK_POINTER = """
@triton.jit
def kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    target = tl.make_block_ptr(out_ptr, (columns, rows), (rows, 1), (0, tl.program_id(0) * M), (N, M), (1, 0))
    for _ in range(0, columns, N):
        x = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, x.T * 2, boundary_check=(0, 1))
        source = tl.advance(source, (0, N))
        target = tl.advance(target, (N, 0))
"""


@pytest.mark.parametrize("shape", [(16, 32), (17, 33), (5, 100), (50, 3)], ids=str)
def test_block_pointers(shape: tuple[int, int], rng, tmp_path: Path) -> None:
    x, out = Buffer(shape, values=rng.integers(-99, 99, shape)), Buffer(shape[::-1])
    kernel_from(BLOCK_POINTER, tmp_path)[(tritium.cdiv(shape[0], 8),)](x.tensor, out.tensor, *shape, M=8, N=16)
    assert_equal(out, 2 * x.values.T)


DESCRIPTOR = """
@triton.jit
def kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[M, N])
    target = tl.make_tensor_descriptor(out_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[M, N])
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([i, j], source.load([i, j]) + 1)
"""


@pytest.mark.parametrize("shape", [(16, 32), (17, 36), (5, 100)], ids=str)
def test_tensor_descriptors(shape: tuple[int, int], rng, tmp_path: Path) -> None:
    x, out = Buffer(shape, values=rng.integers(-99, 99, shape)), Buffer(shape)
    grid = (tritium.cdiv(shape[0], 8), tritium.cdiv(shape[1], 16))
    kernel_from(DESCRIPTOR, tmp_path)[grid](x.tensor, out.tensor, *shape, M=8, N=16)
    assert_equal(out, x.values + 1)


# ---- random numbers ------------------------------------------------------------------------------------------------

RANDOM = """
@triton.jit
def kernel(out_ptr, words_ptr, normal_ptr, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.rand(seed, offsets))
    tl.store(words_ptr + offsets, tl.randint(seed, offsets).to(tl.int32))
    tl.store(normal_ptr + offsets, tl.randn(seed, offsets))
"""


@pytest.mark.parametrize("seed_value", [0, 42, 2**33 + 7])
def test_random_numbers(seed_value: int, tmp_path: Path) -> None:
    n = 4096
    out, words, normal = Buffer((n,)), Buffer((n,), "i32"), Buffer((n,))
    kernel_from(RANDOM, tmp_path)[(n // 256,)](out.tensor, words.tensor, normal.tensor, seed_value, BLOCK=256)
    offsets = np.arange(n)
    assert_equal(out, uniform(seed_value, offsets))
    first, second = philox(seed_value, offsets)[:2]
    assert_equal(words, first.view(np.int32))

    def unit(word: np.ndarray) -> np.ndarray:
        signed = word.view(np.int32)
        return np.where(signed < 0, -signed - 1, signed).astype(np.float64) * 4.6566127342e-10

    radius = np.sqrt(-2 * np.log(np.maximum(unit(first), 1.0e-7)))
    expected = radius * np.cos(2 * np.pi * unit(second))
    # log near 1 and cos near a zero lose relative accuracy of their f32 arguments; both are of size one.
    assert_close(normal, expected, rtol=1e-4, atol=8 * EPSILON["f32"] * 4)
    assert abs(normal.values.mean()) < 0.08
    assert abs(normal.values.std() - 1) < 0.05


# ---- assertions ----------------------------------------------------------------------------------------------------


def test_static_assert_names_its_line(tmp_path: Path) -> None:
    kernel = kernel_from(
        """
        @triton.jit
        def kernel(out_ptr, N: tl.constexpr):
            tl.static_assert(N % 2 == 0, "N must be even")
            tl.store(out_ptr, N)
        """,
        tmp_path,
    )
    out = Buffer((1,), "i32")
    kernel[(1,)](out.tensor, N=4)
    assert_equal(out, np.array([4]))
    with pytest.raises(Exception, match="N must be even") as caught:
        kernel[(1,)](out.tensor, N=5)
    assert "tl.static_assert(N % 2 == 0" in str(caught.value)


# ---- options of a launch ----------------------------------------------------------------------------------------------


def test_the_cache_keeps_nobodys_number_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that differ in `num_threads` only share a cache entry; each launch still has its own number."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    kernel = kernel_from(GRID, tmp_path)
    out = Buffer((7, 1, 1), "i32")
    for threads in (1, 0, 3):
        assert kernel[(7,)](out.tensor, num_threads=threads).metadata.num_threads == threads
