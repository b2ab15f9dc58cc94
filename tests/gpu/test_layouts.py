"""Kernels over every number of warps and blocks of a cluster, element types, odd sizes and strides.

What tests/e2e leaves to the defaults is chosen here: the same result must come of every way to lay a tile out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.e2e.buffers import DTYPES, EPSILON, Buffer, assert_close, assert_equal, is_float
from tests.e2e.kernels import kernel_from

pytestmark = pytest.mark.share(8)

F32 = EPSILON["f32"]
WARPS = [1, 2, 4, 8, 16]
CTAS = [1, 2]
TYPES = [d for d in DTYPES if d != "bf16"]

COPY = """
@triton.jit
def kernel(x_ptr, out_ptr, rows, columns, x_row, x_column, out_row, out_column, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    j = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    mask = (i < rows) & (j < columns)
    x = tl.load(x_ptr + i * x_row + j * x_column, mask=mask)
    tl.store(out_ptr + i * out_row + j * out_column, x, mask=mask)
"""

STRIDES = {"rows": lambda m, n: (n, 1), "columns": lambda m, n: (1, m), "gaps": lambda m, n: (2 * n + 3, 2)}


def grid_of(shape: tuple[int, int], block: tuple[int, int]) -> tuple[int, int]:
    return -(-shape[0] // block[0]), -(-shape[1] // block[1])


def values_of(rng, shape, dtype: str) -> np.ndarray:
    if is_float(dtype):
        return rng.standard_normal(shape)
    info = np.iinfo(DTYPES[dtype][0])
    return rng.integers(info.min, info.max, shape, endpoint=True, dtype=DTYPES[dtype][0])


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("ctas", CTAS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("source", "target"), [("rows", "rows"), ("rows", "columns"), ("gaps", "rows")])
def test_copies(source, target, dtype, ctas, warps, rng, tmp_path: Path) -> None:
    shape, block = (37, 61), (16, 64)
    x = Buffer(shape, dtype, values_of(rng, shape, dtype), strides=STRIDES[source](*shape))
    out = Buffer(shape, dtype, strides=STRIDES[target](*shape))
    kernel_from(COPY, tmp_path)[grid_of(shape, block)](
        x.tensor, out.tensor, *shape, *x.strides, *out.strides, M=16, N=64, num_warps=warps, num_ctas=ctas
    )
    x.check_unchanged()
    assert_equal(out, x.values)


TRANSPOSE = """
@triton.jit
def kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * columns + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < columns))
    mask = (j[:, None] < columns) & (i[None, :] < rows)
    tl.store(out_ptr + j[:, None] * rows + i[None, :], tl.trans(x), mask=mask)
"""


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("ctas", CTAS)
@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "i8"])
@pytest.mark.parametrize("block", [(16, 16), (64, 32), (8, 128)], ids=str)
def test_transposes(block, dtype, ctas, warps, rng, tmp_path: Path) -> None:
    shape = (51, 133)
    x, out = Buffer(shape, dtype, values_of(rng, shape, dtype)), Buffer(shape[::-1], dtype)
    kernel_from(TRANSPOSE, tmp_path)[grid_of(shape, block)](
        x.tensor, out.tensor, *shape, M=block[0], N=block[1], num_warps=warps, num_ctas=ctas
    )
    assert_equal(out, x.values.T)


REDUCE = """
@triton.jit
def kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * columns + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < columns), other=0)
    if AXIS == 0:
        tl.store(out_ptr + j, tl.sum(x, axis=0), mask=j < columns)
    else:
        tl.store(out_ptr + i, tl.sum(x, axis=1), mask=i < rows)
"""


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("ctas", CTAS)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(1, 250), (13, 64), (128, 3), (64, 64)], ids=str)
def test_sums(shape, axis, ctas, warps, rng, tmp_path: Path) -> None:
    """Of integers, so that every order of summing gives the same."""
    block = [1 << (n - 1).bit_length() for n in shape]
    x = Buffer(shape, "i32", rng.integers(-1000, 1000, shape))
    out = Buffer((shape[1 - axis],), "i32")
    kernel_from(REDUCE, tmp_path)[(1,)](
        x.tensor, out.tensor, *shape, M=block[0], N=block[1], AXIS=axis, num_warps=warps, num_ctas=ctas
    )
    assert_equal(out, x.values.sum(axis))


ROWS = """
@triton.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    x = tl.load(x_ptr + at, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def cumsum(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at, mask=mask, other=0), axis=0), mask=mask)


@triton.jit
def sort(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def kernel():
    pass
"""


def rows_kernel(name: str, folder: Path):
    return kernel_from(
        ROWS.replace("def kernel():\n    pass", "def unused():\n    pass").replace(f"def {name}(", "def kernel("),
        folder,
    )


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("ctas", CTAS)
@pytest.mark.parametrize("columns", [1, 77, 1000, 2048])
def test_softmax_of_rows(columns, ctas, warps, rng, tmp_path: Path) -> None:
    x, out = Buffer((3, columns), "f32", rng.standard_normal((3, columns)) * 4), Buffer((3, columns), "f32")
    block = 1 << (columns - 1).bit_length()
    rows_kernel("softmax", tmp_path)[(3,)](x.tensor, out.tensor, columns, BLOCK=block, num_warps=warps, num_ctas=ctas)
    e = np.exp(x.values - x.values.max(1, keepdims=True))
    assert_close(out, e / e.sum(1, keepdims=True), rtol=40 * F32)  # exp rounds its argument times log2(e)


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("columns", [1, 77, 512])
@pytest.mark.parametrize("name", ["cumsum", "sort"])
def test_scans_of_rows(name, columns, warps, rng, tmp_path: Path) -> None:
    block = 1 << (columns - 1).bit_length()
    columns = block if name == "sort" else columns
    x, out = Buffer((2, columns), "i32", rng.integers(-99, 99, (2, columns))), Buffer((2, columns), "i32")
    rows_kernel(name, tmp_path)[(2,)](x.tensor, out.tensor, columns, BLOCK=block, num_warps=warps)
    assert_equal(out, np.sort(x.values, 1) if name == "sort" else x.values.cumsum(1))


DOT = """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + j[None, :])
    tl.store(c_ptr + i[:, None] * N + j[None, :], tl.dot(a, b, input_precision=PRECISION))
"""

BITS = {"tf32": 10, "tf32x3": 20, "ieee": 23}


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize(("dtype", "precision"), [("f16", "ieee"), ("f32", "tf32"), ("f32", "tf32x3"), ("f32", "ieee")])
@pytest.mark.parametrize("size", [(16, 16, 16), (64, 32, 32), (32, 64, 16)], ids=str)
def test_products(size, dtype, precision, warps, rng, tmp_path: Path) -> None:
    m, n, k = size
    a, b = Buffer((m, k), dtype, rng.standard_normal((m, k))), Buffer((k, n), dtype, rng.standard_normal((k, n)))
    c = Buffer((m, n), "f32")
    kernel_from(DOT, tmp_path)[(1,)](a.tensor, b.tensor, c.tensor, M=m, N=n, K=k, PRECISION=precision, num_warps=warps)
    bits = 23 if dtype == "f16" else BITS[precision]
    magnitude = (np.abs(a.values) @ np.abs(b.values)).max()
    assert_close(c, a.values @ b.values, rtol=F32, atol=(2.0**-bits + k * F32) * magnitude)
