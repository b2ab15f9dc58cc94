"""The five tutorial kernels of examples/, on the CPU, against float64 references.

Over dtypes, sizes that are no powers of two, strides with gaps, and starts that are not aligned. Where a tolerance is
not zero, it is derived beside it. EPSILON of a dtype is the distance from 1 to the next number; a rounding costs half.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tritium
from tests.e2e.buffers import DTYPES, EPSILON, Buffer, assert_close, assert_equal, is_float
from tests.e2e.philox import uniform

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FLOATS = ["f32-numpy", "f16-numpy"] + [
    pytest.param(f"{d}-torch", marks=pytest.mark.torch) for d in ("f32", "f16", "bf16")
]
F32 = EPSILON["f32"]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


vector_add, fused_softmax, matmul = load("vector_add"), load("fused_softmax"), load("matmul")
dropout, layer_norm = load("low_memory_dropout"), load("layer_norm")


def values(rng: np.random.Generator, shape, dtype: str, scale: float = 1.0) -> np.ndarray:
    """Random values: normally distributed, or over the whole range of an integer dtype."""
    if is_float(dtype):
        return rng.standard_normal(shape) * scale
    limits = np.iinfo(DTYPES[dtype][0])
    return rng.integers(limits.min, limits.max, shape, endpoint=True)


def wrap(total: np.ndarray, dtype: str) -> np.ndarray:
    """Two's complement: what an integer dtype keeps of a sum."""
    return Buffer(total.shape, dtype, values=total).values


# ---- vector add ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*FLOATS, "f64-numpy", "i8-numpy", "i16-numpy", "i32-numpy", "i64-numpy", "u8-numpy"])
@pytest.mark.parametrize("size", [1, 17, 1024, 4099])
def test_vector_add(kind: str, size: int, rng: np.random.Generator) -> None:
    dtype, library = kind.split("-")
    x = Buffer((size,), dtype, values(rng, size, dtype), library=library)
    y = Buffer((size,), dtype, values(rng, size, dtype), library=library)
    out = Buffer((size,), dtype, library=library)
    vector_add.add_kernel[lambda meta: (tritium.cdiv(size, meta["BLOCK_SIZE"]),)](
        x.tensor, y.tensor, out.tensor, size, BLOCK_SIZE=1024
    )
    if dtype == "bf16":
        # The sum may be rounded to f32 first, then to bf16: at a tie that is half a unit more, here a whole f32 unit.
        assert_close(out, x.values + y.values, rtol=F32)
    else:
        assert_equal(out, x.values + y.values if is_float(dtype) else wrap(x.values + y.values, dtype))
    x.check_unchanged()
    y.check_unchanged()


@pytest.mark.parametrize("block", [1, 2, 64, 8192])
@pytest.mark.parametrize("offset", [1, 3])
def test_vector_add_unaligned(block: int, offset: int, rng: np.random.Generator) -> None:
    size = 1000 if block > 1 else 50
    x = Buffer((size,), values=values(rng, size, "f32"), offset=offset)
    y = Buffer((size,), values=values(rng, size, "f32"), offset=offset + 1)
    out = Buffer((size,), offset=offset + 2)
    vector_add.add_kernel[(tritium.cdiv(size, block),)](x.tensor, y.tensor, out.tensor, size, BLOCK_SIZE=block)
    assert_equal(out, x.values + y.values)


def test_vector_add_of_special_values() -> None:
    specials = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 2.0**-149, 3.4028235e38])
    left, right = (grid.reshape(-1) for grid in np.meshgrid(specials, specials))
    x, y, out = Buffer(left.shape, values=left), Buffer(left.shape, values=right), Buffer(left.shape)
    vector_add.add_kernel[(1,)](x.tensor, y.tensor, out.tensor, left.size, BLOCK_SIZE=64)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = (left.astype(np.float32) + right.astype(np.float32)).astype(np.float64)
    assert_equal(out, expected)
    assert np.array_equal(np.signbit(out.values[expected == 0]), np.signbit(expected[expected == 0]))


def test_an_empty_grid_does_nothing() -> None:
    x, out = Buffer((4,), values=np.ones(4)), Buffer((4,))
    vector_add.add_kernel[(0,)](x.tensor, x.tensor, out.tensor, 0, BLOCK_SIZE=64)
    out.check_unchanged()


# ---- softmax -------------------------------------------------------------------------------------------------------


def softmax_reference(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (37, 781), (8, 1024), (5, 2049)], ids=str)
def test_softmax(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> None:
    dtype, library = kind.split("-")
    rows, cols = shape
    x = Buffer(shape, dtype, values(rng, shape, dtype, 3.0), strides=(cols + 7, 1), library=library)
    y = Buffer(shape, dtype, strides=(cols + 3, 1), library=library)
    block = tritium.next_power_of_2(cols)
    fused_softmax.softmax_kernel[(min(rows, 4),)](
        y.tensor, x.tensor, cols + 7, cols + 3, rows, cols, BLOCK_SIZE=block, num_stages=2
    )
    # An error of half a unit in x - max (at most 40 here) is one of 20 units of EPSILON in exp; the sum of n terms in a
    # tree has log2(n) roundings; exp itself and the division cost up to 2 units.
    eps = EPSILON[dtype]
    assert_close(y, softmax_reference(x.values), rtol=eps * (20 + 2 + np.log2(block)), atol=eps**2)
    x.check_unchanged()


def test_softmax_of_huge_values() -> None:
    x = Buffer((2, 5), values=[[1e38, 1e38, -1e38, 0, 1], [-np.inf, 0, 0, -np.inf, -1e30]])
    y = Buffer((2, 5))
    fused_softmax.softmax_kernel[(1,)](y.tensor, x.tensor, 5, 5, 2, 5, BLOCK_SIZE=8, num_stages=2)
    assert_equal(y, np.array([[0.5, 0.5, 0, 0, 0], [0, 0.5, 0.5, 0, 0]]))


# ---- matmul --------------------------------------------------------------------------------------------------------

SHAPES = [(1, 1, 1), (64, 64, 64), (33, 17, 65), (128, 256, 32), (129, 127, 255)]


def run_matmul(a: Buffer, b: Buffer, c: Buffer, activation: str = "", blocks: tuple[int, ...] = (32, 32, 32)) -> None:
    (m, k), (_, n) = a.shape, b.shape
    sizes = dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), blocks))
    grid = (tritium.cdiv(m, blocks[0]) * tritium.cdiv(n, blocks[1]),)
    matmul.matmul_kernel[grid](
        a.tensor, b.tensor, c.tensor, m, n, k, *a.strides, *b.strides, *c.strides,
        ACTIVATION=activation, GROUP_SIZE_M=4, **sizes,
    )  # fmt: skip


def check_matmul(a: Buffer, b: Buffer, c: Buffer, activation: str = "") -> None:
    expected = a.values @ b.values
    magnitude = np.abs(a.values) @ np.abs(b.values)
    if activation:
        expected = np.where(expected >= 0, expected, 0.01 * expected)
    # The usual bound for a sum of K products in f32, each with one rounding: K/2 units of the sum of magnitudes.
    assert_close(c, expected, rtol=2 * F32, atol=F32 / 2 * a.shape[1] * magnitude.max())
    a.check_unchanged()
    b.check_unchanged()


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_matmul(kind: str, shape: tuple[int, int, int], rng: np.random.Generator) -> None:
    dtype, library = kind.split("-")
    m, n, k = shape
    a = Buffer((m, k), dtype, values(rng, (m, k), dtype), library=library)
    b = Buffer((k, n), dtype, values(rng, (k, n), dtype), library=library)
    c = Buffer((m, n), dtype, library=library)
    run_matmul(a, b, c)
    check_matmul(a, b, c)


@pytest.mark.parametrize("a_strides", [(70, 1), (1, 70), (140, 2)], ids=["rows", "columns", "gaps"])
@pytest.mark.parametrize("b_strides", [(50, 1), (1, 70)], ids=["rows", "columns"])
def test_matmul_strides(a_strides, b_strides, rng: np.random.Generator) -> None:
    a = Buffer((65, 67), values=values(rng, (65, 67), "f32"), strides=a_strides)
    b = Buffer((67, 49), values=values(rng, (67, 49), "f32"), strides=b_strides)
    c = Buffer((65, 49), strides=(1, 66))
    run_matmul(a, b, c, activation="leaky_relu", blocks=(64, 16, 32))
    check_matmul(a, b, c, "leaky_relu")


@pytest.mark.parametrize("blocks", [(16, 16, 16), (128, 128, 64), (64, 256, 32), (16, 128, 128)], ids=str)
def test_matmul_blocks(blocks, rng: np.random.Generator) -> None:
    a = Buffer((150, 130), values=values(rng, (150, 130), "f32"))
    b = Buffer((130, 170), values=values(rng, (130, 170), "f32"))
    c = Buffer((150, 170))
    run_matmul(a, b, c, blocks=blocks)
    check_matmul(a, b, c)


# ---- dropout -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("size", [10, 1024, 3001])
def test_dropout(kind: str, size: int, rng: np.random.Generator) -> None:
    dtype, library = kind.split("-")
    p = 0.25
    x = Buffer((size,), dtype, values(rng, size, dtype), library=library)
    keep = Buffer((size,), "i32", rng.integers(0, 2, size), library=library)
    out = Buffer((size,), dtype, library=library)
    dropout._dropout[(tritium.cdiv(size, 1024),)](x.tensor, keep.tensor, out.tensor, size, p, BLOCK_SIZE=1024)
    # x / 0.75 with one rounding to f32, and one to the dtype.
    assert_close(out, np.where(keep.values != 0, x.values / (1 - p), 0.0), rtol=EPSILON[dtype] / 2 + F32)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("seed_value", [0, 123, 2**31 - 1, 2**40 + 5])
def test_seeded_dropout(kind: str, seed_value: int, rng: np.random.Generator) -> None:
    dtype, library = kind.split("-")
    size, p = 3001, 0.3
    x = Buffer((size,), dtype, values(rng, size, dtype), library=library)
    out = Buffer((size,), dtype, library=library)
    dropout._seeded_dropout[(tritium.cdiv(size, 256),)](x.tensor, out.tensor, size, p, seed_value, BLOCK_SIZE=256)
    keep = uniform(seed_value, np.arange(size)) > np.float32(p)
    assert 0.6 < keep.mean() < 0.8
    assert_close(out, np.where(keep, x.values / (1 - p), 0.0), rtol=EPSILON[dtype] / 2 + 2 * F32)


# ---- layer norm ----------------------------------------------------------------------------------------------------


def layer_norm_reference(x, w, b, eps):
    mean = x.mean(axis=1)
    rstd = 1 / np.sqrt(x.var(axis=1) + eps)
    return (x - mean[:, None]) * rstd[:, None] * w + b, mean, rstd


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1), (5, 33), (64, 1000), (3, 2500)], ids=str)
def test_layer_norm(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> None:
    dtype, library = kind.split("-")
    rows, cols = shape
    x = Buffer(shape, dtype, values(rng, shape, dtype) - 2.3, strides=(cols + 5, 1), library=library)
    y = Buffer(shape, dtype, strides=(cols + 5, 1), library=library)
    w = Buffer((cols,), dtype, rng.random(cols), library=library)
    b = Buffer((cols,), dtype, rng.random(cols), library=library)
    mean, rstd = Buffer((rows,), library=library), Buffer((rows,), library=library)
    layer_norm._layer_norm_fwd_fused[(rows,)](
        x.tensor, y.tensor, w.tensor, b.tensor, mean.tensor, rstd.tensor, cols + 5, cols, 1e-5, BLOCK_SIZE=512
    )
    expected, expected_mean, expected_rstd = layer_norm_reference(x.values, w.values, b.values, 1e-5)
    # Sums over the columns, in f32: at most log2(512) + columns / 512 roundings, each of the mean's own size (3 or so).
    steps = 16 * F32
    assert_close(mean, expected_mean, rtol=steps)
    assert_close(rstd, expected_rstd, rtol=steps if cols > 1 else 1e-3)
    assert_close(
        y, expected, rtol=2 * steps, atol=4 * steps * max(1.0, float(expected_rstd.max()) if cols > 1 else 1.0)
    )


def test_layer_norm_backward(rng: np.random.Generator) -> None:
    rows, cols, group = 37, 100, 8
    x_values, dy_values = values(rng, (rows, cols), "f32"), values(rng, (rows, cols), "f32")
    x, dy = Buffer((rows, cols), values=x_values), Buffer((rows, cols), values=dy_values)
    w = Buffer((cols,), values=rng.random(cols))
    _, mean_values, rstd_values = layer_norm_reference(x.values, w.values, 0, 1e-5)
    mean, rstd = Buffer((rows,), values=mean_values), Buffer((rows,), values=rstd_values)
    locks = Buffer((2 * group,), "i32", np.zeros(2 * group))
    partial_dw = Buffer((group, cols), values=np.zeros((group, cols)))
    partial_db = Buffer((group, cols), values=np.zeros((group, cols)))
    dx, dw, db = Buffer((rows, cols)), Buffer((cols,)), Buffer((cols,))
    layer_norm._layer_norm_bwd_dx_fused[(rows,)](
        dx.tensor, dy.tensor, partial_dw.tensor, partial_db.tensor, x.tensor, w.tensor, mean.tensor, rstd.tensor,
        locks.tensor, cols, cols, GROUP_SIZE_M=group, BLOCK_SIZE_N=128,
    )  # fmt: skip
    layer_norm._layer_norm_bwd_dwdb[(tritium.cdiv(cols, 64),)](
        partial_dw.tensor, partial_db.tensor, dw.tensor, db.tensor, group, cols, BLOCK_SIZE_M=32, BLOCK_SIZE_N=64
    )
    xhat = (x.values - mean_values[:, None]) * rstd_values[:, None]
    wdy = w.values * dy.values
    c1, c2 = (xhat * wdy).mean(axis=1, keepdims=True), wdy.mean(axis=1, keepdims=True)
    tolerance = 64 * F32  # sums of a hundred products of size one, in f32
    assert_close(dx, (wdy - (xhat * c1 + c2)) * rstd_values[:, None], rtol=tolerance, atol=tolerance)
    assert_close(dw, (dy.values * xhat).sum(axis=0), rtol=tolerance, atol=tolerance)
    assert_close(db, dy.values.sum(axis=0), rtol=tolerance, atol=tolerance)
    assert not locks.values[:group].any(), "a lock was left taken"
