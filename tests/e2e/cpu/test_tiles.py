"""Blocks of one to three dimensions on the CPU, against NumPy: creation, shape, broadcasting, reductions, dot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.e2e.buffers import EPSILON, Buffer, assert_close, assert_equal
from tests.e2e.kernels import kernel_from

F32 = EPSILON["f32"]


def run(expression: str, folder: Path, x: np.ndarray, shape: tuple[int, ...], dtype="f32", out="f32") -> Buffer:
    """`expression` over the two-dimensional block x (of x's shape, powers of two), stored as a tensor of `shape`."""
    rows, columns = x.shape
    letters = "ijk"[: len(shape)]
    steps = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    index = {1: [""], 2: ["[:, None]", "[None, :]"], 3: ["[:, None, None]", "[None, :, None]", "[None, None, :]"]}
    places = " + ".join(
        f"tl.arange(0, {n}){where} * {step}" for n, step, where in zip(shape, steps, index.get(len(shape), []))
    )
    text = f"""
@triton.jit
def kernel(x_ptr, out_ptr):
    i = tl.arange(0, {rows})
    j = tl.arange(0, {columns})
    x = tl.load(x_ptr + i[:, None] * {columns} + j[None, :])
    tl.store(out_ptr + {places or "0"}, {expression})
"""
    assert len(letters) == len(shape)
    source, result = Buffer(x.shape, dtype, x), Buffer(shape, out)
    kernel_from(text, folder)[(1,)](source.tensor, result.tensor)
    source.check_unchanged()
    return result


@pytest.fixture
def x(rng) -> np.ndarray:
    return rng.permutation(np.arange(16 * 32)).reshape(16, 32).astype(float) - 200


SHAPES = {
    # expression: (shape of the result, reference)
    "x": ((16, 32), lambda x: x),
    "x.T": ((32, 16), lambda x: x.T),
    "tl.trans(x)": ((32, 16), lambda x: x.T),
    "tl.permute(x, (1, 0))": ((32, 16), lambda x: x.T),
    "tl.reshape(x, (512,))": ((512,), lambda x: x.reshape(512)),
    "x.reshape(32, 16)": ((32, 16), lambda x: x.reshape(32, 16)),
    "tl.reshape(x, (4, 4, 32))": ((4, 4, 32), lambda x: x.reshape(4, 4, 32)),
    "tl.permute(tl.reshape(x, (4, 4, 32)), (2, 0, 1))": ((32, 4, 4), lambda x: x.reshape(4, 4, 32).transpose(2, 0, 1)),
    "tl.ravel(x)": ((512,), lambda x: x.ravel()),
    "x + tl.sum(x, axis=1)[:, None]": ((16, 32), lambda x: x + x.sum(1, keepdims=True)),
    "x - tl.max(x, axis=0, keep_dims=True)": ((16, 32), lambda x: x - x.max(0, keepdims=True)),
    "x + tl.arange(0, 32)": ((16, 32), lambda x: x + np.arange(32)),
    "tl.zeros((16, 32), tl.float32) + i[:, None]": ((16, 32), lambda x: np.arange(16.0)[:, None] + 0 * x),
    "tl.full((16, 32), 3, tl.float32) * x": ((16, 32), lambda x: 3 * x),
    "tl.zeros_like(x)": ((16, 32), lambda x: 0 * x),
    "tl.broadcast_to(i[:, None], (16, 32)) * 1.0": ((16, 32), lambda x: np.arange(16.0)[:, None] + 0 * x),
    "tl.expand_dims(i, 1) * 1.0 + tl.expand_dims(j, 0)": ((16, 32), lambda x: np.arange(16)[:, None] + np.arange(32.0)),
    "tl.where(i[:, None] < j[None, :], x, 0.0)": ((16, 32), lambda x: np.triu(x, 1)),
    "tl.join(i, i + 100) * 1.0": ((16, 2), lambda x: np.stack([np.arange(16), np.arange(16) + 100.0], -1)),
    "tl.interleave(i, i + 100) * 1.0": ((32,), lambda x: np.stack([np.arange(16), np.arange(16) + 100.0], -1).ravel()),
    "tl.cat(i, i + 100, can_reorder=False) * 1.0": (
        (32,),
        lambda x: np.concatenate([np.arange(16), np.arange(16) + 100.0]),
    ),
    "tl.flip(i, 0) * 1.0": ((16,), lambda x: np.arange(16.0)[::-1]),
    "tl.cumsum(x, axis=1)": ((16, 32), lambda x: x.cumsum(1)),
    "tl.cumsum(x, axis=0, reverse=True)": ((16, 32), lambda x: x[::-1].cumsum(0)[::-1]),
    "tl.gather(x, tl.broadcast_to((31 - j)[None, :], (16, 32)), axis=1)": ((16, 32), lambda x: x[:, ::-1]),
}


@pytest.mark.parametrize("expression", SHAPES)
def test_shapes(expression: str, x: np.ndarray, tmp_path: Path) -> None:
    shape, reference = SHAPES[expression]
    assert_equal(run(expression, tmp_path, x, shape), reference(x))


REDUCTIONS = {
    # integers below 2^24 in every partial sum, so that any order is exact
    "tl.sum(x, axis=0)": ((32,), lambda x: x.sum(0)),
    "tl.sum(x, axis=1)": ((16,), lambda x: x.sum(1)),
    "tl.sum(x)": ((), lambda x: x.sum()),
    "tl.max(x, axis=0)": ((32,), lambda x: x.max(0)),
    "tl.max(x, axis=1)": ((16,), lambda x: x.max(1)),
    "tl.max(x)": ((), lambda x: x.max()),
    "tl.min(x, axis=1)": ((16,), lambda x: x.min(1)),
    "tl.argmax(x, axis=0) * 1.0": ((32,), lambda x: x.argmax(0)),
    "tl.argmax(x, axis=1) * 1.0": ((16,), lambda x: x.argmax(1)),
    "tl.argmin(x, axis=1) * 1.0": ((16,), lambda x: x.argmin(1)),
    "tl.max(x, axis=1, return_indices=True)[1] * 1.0": ((16,), lambda x: x.argmax(1)),
    "tl.max(x, axis=1, return_indices=True)[0]": ((16,), lambda x: x.max(1)),
    "tl.sum(tl.sum(x, axis=1), axis=0)": ((), lambda x: x.sum()),
    "tl.sum(x, axis=1, keep_dims=True)": ((16, 1), lambda x: x.sum(1, keepdims=True)),
    "tl.sum(tl.reshape(x, (4, 4, 32)), axis=1)": ((4, 32), lambda x: x.reshape(4, 4, 32).sum(1)),
    "tl.sum(tl.reshape(x, (4, 4, 32)), axis=0)": ((4, 32), lambda x: x.reshape(4, 4, 32).sum(0)),
    "tl.sum((x > 0).to(tl.int32), axis=1) * 1.0": ((16,), lambda x: (x > 0).sum(1)),
    "tl.xor_sum(x.to(tl.int32), axis=1) * 1.0": ((16,), lambda x: np.bitwise_xor.reduce(x.astype(int), axis=1)),
    "tl.xor_sum(x.to(tl.int32), axis=0) * 1.0": ((32,), lambda x: np.bitwise_xor.reduce(x.astype(int), axis=0)),
}


@pytest.mark.parametrize("expression", REDUCTIONS)
def test_reductions(expression: str, x: np.ndarray, tmp_path: Path) -> None:
    shape, reference = REDUCTIONS[expression]
    assert_equal(run(expression, tmp_path, x, shape), np.asarray(reference(x), float))


@pytest.mark.parametrize("tie_break, expected", [("True", [0, 2]), ("False", None)])
def test_argmax_ties(tie_break: str, expected, tmp_path: Path) -> None:
    x = np.array([[5.0, 1, 5, 5], [0, 1, 7, 7]])
    got = run(f"tl.argmax(x, axis=1, tie_break_left={tie_break}) * 1.0", tmp_path, x, (2,)).values
    assert np.array_equal(x[[0, 1], got.astype(int)], [5, 7])
    if expected is not None:
        assert got.tolist() == expected


CUSTOM = """
@triton.jit
def longer(a, b):
    return tl.where(tl.abs(a) > tl.abs(b), a, b)

@triton.jit
def pair(a, i, b, j):
    first = (a < b) | ((a == b) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)

@triton.jit
def kernel(x_ptr, out_ptr, value_ptr, index_ptr):
    i = tl.arange(0, 16)
    j = tl.arange(0, 32)
    x = tl.load(x_ptr + i[:, None] * 32 + j[None, :])
    tl.store(out_ptr + i, tl.reduce(x, 1, longer))
    indices = tl.broadcast_to(j[None, :], (16, 32))
    value, index = tl.reduce((x, indices), 1, pair)
    tl.store(value_ptr + i, value)
    tl.store(index_ptr + i, index)
"""


def test_reductions_of_the_users_own(x: np.ndarray, tmp_path: Path) -> None:
    source = Buffer(x.shape, values=x + 0.25)  # no two have the same magnitude
    longest, value, index = Buffer((16,)), Buffer((16,)), Buffer((16,), "i32")
    kernel_from(CUSTOM, tmp_path)[(1,)](source.tensor, longest.tensor, value.tensor, index.tensor)
    x = source.values
    assert_equal(longest, x[np.arange(16), np.abs(x).argmax(1)])
    assert_equal(value, x.min(1))
    assert_equal(index, x.argmin(1))


DOT = """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + j[None, :])
    c = tl.dot(a, b, out_dtype=OUT)
    tl.store(c_ptr + i[:, None] * N + j[None, :], c)
"""
SIZES = [(16, 16, 16), (64, 32, 128), (16, 256, 16), (128, 16, 32), (8, 8, 8), (1, 64, 32), (4, 2, 64)]


@pytest.mark.parametrize("dtype", ["f32", "f16", "f64"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_dot(dtype: str, size: tuple[int, int, int], rng, tmp_path: Path) -> None:
    import tritium.language as tl

    m, n, k = size
    a, b = Buffer((m, k), dtype, rng.standard_normal((m, k))), Buffer((k, n), dtype, rng.standard_normal((k, n)))
    out = "f64" if dtype == "f64" else "f32"
    c = Buffer((m, n), out)
    kind = tl.float64 if dtype == "f64" else tl.float32
    kernel_from(DOT, tmp_path)[(1,)](a.tensor, b.tensor, c.tensor, M=m, N=n, K=k, OUT=kind)
    magnitude = (np.abs(a.values) @ np.abs(b.values)).max()
    assert_close(c, a.values @ b.values, rtol=EPSILON[out], atol=EPSILON[out] / 2 * k * magnitude)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_integer_dot_is_exact(size: tuple[int, int, int], rng, tmp_path: Path) -> None:
    import tritium.language as tl

    m, n, k = size
    a, b = Buffer((m, k), "i8", rng.integers(-128, 128, (m, k))), Buffer((k, n), "i8", rng.integers(-128, 128, (k, n)))
    c = Buffer((m, n), "i32")
    kernel_from(DOT, tmp_path)[(1,)](a.tensor, b.tensor, c.tensor, M=m, N=n, K=k, OUT=tl.int32)
    assert_equal(c, a.values @ b.values)
