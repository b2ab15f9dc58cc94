"""Elementwise operations on the CPU, one expression a test, against NumPy.

Each line of a table is an expression over the blocks x and y and what it must give. Blocks are longer than a vector,
and their tails are masked.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import special

from tests import sampling
from tests.e2e.buffers import EPSILON, Buffer, assert_close, assert_equal, is_float
from tests.e2e.kernels import kernel_from

N, BLOCK = 1000, 1024
F32 = EPSILON["f32"]


def run(expression: str, folder: Path, out: str, *inputs: Buffer, library: str = "numpy") -> Buffer:
    """`expression` over blocks named x, y, ... with the contents of `inputs`, stored as dtype `out`."""
    names = "xyzw"[: len(inputs)]
    pointers = ", ".join(f"{name}_ptr" for name in names)
    loads = "\n".join(f"    {name} = tl.load({name}_ptr + offsets, mask=mask)" for name in names)
    text = f"""
@triton.jit
def kernel({pointers}, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
{loads}
    tl.store(out_ptr + offsets, {expression}, mask=mask)
"""
    n = inputs[0].shape[0]
    result = Buffer((n,), out, library=library)
    kernel_from(text, folder)[(1,)](*(b.tensor for b in inputs), result.tensor, n, BLOCK=BLOCK)
    for b in inputs:
        b.check_unchanged()
    return result


def floats(rng, dtype="f32", low=-4.0, high=4.0, library="numpy") -> Buffer:
    return Buffer((N,), dtype, rng.uniform(low, high, N), library=library)


def integers(rng, dtype: str, low=None, high=None) -> Buffer:
    info = np.iinfo({"u8": "uint8"}.get(dtype, dtype.replace("i", "int")))
    return Buffer(
        (N,),
        dtype,
        rng.integers(info.min if low is None else low, info.max if high is None else high, N, endpoint=True),
    )


# ---- floating-point arithmetic: one rounding each, exact against NumPy in the same dtype ---------------------------

EXACT = {
    "x + y": np.add,
    "x - y": np.subtract,
    "x * y": np.multiply,
    "x / y": np.divide,
    "-x": lambda x, y: -x,
    "tl.abs(x)": lambda x, y: np.abs(x),
    "tl.maximum(x, y)": np.maximum,
    "tl.minimum(x, y)": np.minimum,
    "tl.where(x < y, x, y)": lambda x, y: np.where(x < y, x, y),
    "tl.where((x < 0) | (y >= 1), x, 0.5)": lambda x, y: np.where((x < 0) | (y >= 1), x, x.dtype.type(0.5)),
    "tl.where((x < y) & (y != 1), x, y)": lambda x, y: np.where((x < y) & (y != 1), x, y),
    "tl.clamp(x, -1.0, 1.0)": lambda x, y: np.clip(x, -1, 1),
    "tl.sqrt(tl.abs(x))": lambda x, y: np.sqrt(np.abs(x)),
    "tl.floor(x)": lambda x, y: np.floor(x),
    "tl.ceil(x)": lambda x, y: np.ceil(x),
    "(x > y).to(tl.float32)": lambda x, y: (x > y).astype(np.float32),
    "x * 2 + 1": lambda x, y: x * 2 + 1,
    "1 - x": lambda x, y: 1 - x,
    "0.5 * x": lambda x, y: x.dtype.type(0.5) * x,
}


@pytest.mark.parametrize("expression", EXACT)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_float_arithmetic(expression: str, dtype: str, rng, tmp_path: Path) -> None:
    tolerance = EPSILON[dtype] if expression == "x * 2 + 1" else 0.0  # that one may be fused into one rounding
    x, y = floats(rng, dtype), floats(rng, dtype)
    kind = np.float32 if dtype == "f32" else np.float64
    expected = EXACT[expression](x.values.astype(kind), y.values.astype(kind)).astype(np.float64)
    out = run(expression, tmp_path, dtype, x, y)
    if tolerance:
        assert_close(out, expected, rtol=tolerance, atol=tolerance)
    else:
        assert_equal(out, expected)


@pytest.mark.parametrize("dtype", ["f16-numpy", pytest.param("bf16-torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("expression", ["x + y", "x * y", "x - y", "tl.maximum(x, y)", "tl.where(x < y, x, y)", "-x"])
def test_half_precision(expression: str, dtype: str, rng, tmp_path: Path) -> None:
    dtype, library = dtype.split("-")
    x, y = floats(rng, dtype, library=library), floats(rng, dtype, library=library)
    expected = EXACT[expression](x.values, y.values)
    # Through f32 a tie can be rounded twice.
    assert_close(run(expression, tmp_path, dtype, x, y, library=library), expected, rtol=2 * F32)


FUNCTIONS = {
    # expression: (float64 reference, lowest and highest argument, units of f32)
    "tl.exp(x)": (np.exp, -80, 80, 2),
    "tl.exp2(x)": (np.exp2, -120, 120, 2),
    "tl.log(x)": (np.log, 1e-6, 1e6, 2),
    "tl.log2(x)": (np.log2, 1e-6, 1e6, 2),
    "tl.sin(x)": (np.sin, -100, 100, 2),
    "tl.cos(x)": (np.cos, -100, 100, 2),
    "tl.rsqrt(x)": (lambda x: 1 / np.sqrt(x), 1e-6, 1e6, 3),
    "tl.sqrt_rn(x)": (np.sqrt, 1e-6, 1e6, 1),
    "tl.erf(x)": (special.erf, -4, 4, 4),
    "tl.sigmoid(x)": (lambda x: 1 / (1 + np.exp(-x)), -20, 20, 6),
    "tl.math.tanh(x)": (np.tanh, -9, 9, 4),
    "x * x * x": (lambda x: x * x * x, -4, 4, 2),
    "tl.fma(x, x, x)": (lambda x: x * x + x, 0, 4, 1),
    "tl.math.exp(x)": (np.exp, -80, 80, 2),
    "tl.fdiv(x, x + 3.0)": (lambda x: x / (x + 3.0), 0.1, 4, 2),
    "tl.fdiv(x, x + 3.0, ieee_rounding=True)": (lambda x: x / (x + 3.0), 0.1, 4, 2),
    "tl.fdiv(x, x + 3.0, approx=True)": (lambda x: x / (x + 3.0), 0.1, 4, 2),
    "tl.div_rn(x, x + 3.0)": (lambda x: x / (x + 3.0), 0.1, 4, 2),
}


@pytest.mark.parametrize("expression", FUNCTIONS)
def test_functions(expression: str, rng, tmp_path: Path) -> None:
    reference, low, high, units = FUNCTIONS[expression]
    x = floats(rng, "f32", low, high)
    # The absolute term is for results near 0 of functions whose argument is exact: sin, cos and log there are no worse.
    assert_close(run(expression, tmp_path, "f32", x), reference(x.values), rtol=units * F32, atol=2.0**-40)


def test_functions_of_special_values(tmp_path: Path) -> None:
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40, 88.9, -104.0])
    x = Buffer(values.shape, values=values)
    with np.errstate(all="ignore"):
        for expression, reference in {"tl.exp(x)": np.exp, "tl.log(x)": np.log, "tl.sqrt(x)": np.sqrt}.items():
            expected = reference(values.astype(np.float32)).astype(np.float64)
            assert_close(run(expression, tmp_path, "f32", x), expected, rtol=4 * F32, atol=2.0**-149)


# ---- integers ------------------------------------------------------------------------------------------------------


def wrapped(function):
    """Apply in int64, then keep what the dtype holds."""
    return lambda x, y, kind: function(x.astype(np.int64), y.astype(np.int64)).astype(kind)


def truncated_division(x, y):
    return np.trunc(x.astype(np.longdouble) / y.astype(np.longdouble)).astype(np.int64)


INTEGERS = {
    "x + y": wrapped(np.add),
    "x - y": wrapped(np.subtract),
    "x * y": wrapped(np.multiply),
    "x // y": wrapped(truncated_division),
    "x % y": wrapped(lambda x, y: x - truncated_division(x, y) * y),
    "x & y": wrapped(np.bitwise_and),
    "x | y": wrapped(np.bitwise_or),
    "x ^ y": wrapped(np.bitwise_xor),
    "~x": wrapped(lambda x, y: ~x),
    "-x": wrapped(lambda x, y: -x),
    "x << 3": wrapped(lambda x, y: x << 3),
    "x >> 2": wrapped(lambda x, y: x >> 2),
    "tl.maximum(x, y)": wrapped(np.maximum),
    "tl.minimum(x, y)": wrapped(np.minimum),
    "tl.where(x > y, x, y)": wrapped(np.maximum),
    "tl.where(x == y, 1, 0)": wrapped(lambda x, y: (x == y) * 1),
    "tl.abs(x)": wrapped(lambda x, y: np.abs(x)),
    "tl.cdiv(x, 7)": wrapped(lambda x, y: truncated_division(x + 6, np.full_like(x, 7))),
}


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("expression", INTEGERS)
def test_integer_arithmetic(expression: str, dtype: str, rng, tmp_path: Path) -> None:
    bound = {"i8": 11, "i16": 181, "i32": 46340, "i64": 2**31}[dtype]
    x, y = integers(rng, dtype, -bound, bound), integers(rng, dtype, 1, bound)
    if expression in ("x + y", "x - y", "x & y", "~x"):  # these wrap as they should over the whole range
        x, y = integers(rng, dtype), integers(rng, dtype)
    kind = dtype.replace("i", "int")
    assert_equal(
        run(expression, tmp_path, dtype, x, y), INTEGERS[expression](x.values, y.values, kind).astype(np.int64)
    )


def test_unsigned_is_not_signed(rng, tmp_path: Path) -> None:
    x, y = integers(rng, "u8"), integers(rng, "u8", 1, 255)
    left, right = x.values, y.values
    assert_equal(run("x // y", tmp_path, "u8", x, y), left // right)
    assert_equal(run("x % y", tmp_path, "u8", x, y), left % right)
    assert_equal(run("x >> 1", tmp_path, "u8", x, y), left >> 1)
    assert_equal(run("(x < y).to(tl.uint8)", tmp_path, "u8", x, y), left < right)
    assert_equal(run("x.to(tl.float32)", tmp_path, "f32", x, y), left.astype(float))
    assert_equal(run("x.to(tl.int32) - y.to(tl.int32)", tmp_path, "i32", x, y), left - right)


def test_integer_division_of_a_block_gives_a_float(rng, tmp_path: Path) -> None:
    x, y = integers(rng, "i32", -1000, 1000), integers(rng, "i32", 1, 1000)
    assert_equal(run("x / y", tmp_path, "f32", x, y), x.values.astype(np.float32) / y.values.astype(np.float32))


def test_umulhi(rng, tmp_path: Path) -> None:
    x, y = integers(rng, "i32"), integers(rng, "i32")
    product = (x.values & 0xFFFFFFFF).astype(np.uint64) * (y.values & 0xFFFFFFFF).astype(np.uint64)
    expected = (product >> np.uint64(32)).astype(np.uint32).view(np.int32)
    assert_equal(run("tl.umulhi(x, y)", tmp_path, "i32", x, y), expected)


# ---- casts ---------------------------------------------------------------------------------------------------------

CASTS = [
    ("f32", "f64"), ("f64", "f32"), ("f32", "f16"), ("f16", "f32"), ("f32", "i32"), ("f32", "i8"), ("f64", "i64"),
    ("i32", "f32"), ("i64", "f64"), ("i64", "f32"), ("i32", "i8"), ("i8", "i32"), ("u8", "i32"), ("u8", "f32"),
    ("i16", "i64"), ("f16", "i32"), ("i8", "f16"), ("f32", "u8"),
]  # fmt: skip
NAMES = {"u8": "uint8", "bf16": "bfloat16"}


@pytest.mark.parametrize("source, target", CASTS)
def test_casts(source: str, target: str, rng, tmp_path: Path) -> None:
    if is_float(source):
        low, high = (0, 255) if target == "u8" else (-120, 120)
        x = Buffer((N,), source, rng.uniform(low, high, N))
    else:
        x = integers(rng, source)
    name = NAMES.get(target) or target.replace("f", "float").replace("i", "int")
    out = run(f"x.to(tl.{name})", tmp_path, target, x)
    expected = np.trunc(x.values) if is_float(source) and not is_float(target) else x.values
    assert_equal(out, expected)


@pytest.mark.torch
@pytest.mark.parametrize("source, target", [("f32", "bf16"), ("bf16", "f32"), ("bf16", "f16"), ("i32", "bf16")])
def test_bfloat16_casts(source: str, target: str, rng, tmp_path: Path) -> None:
    values = rng.uniform(-1000, 1000, N)
    x = Buffer((N,), source, values if is_float(source) else np.trunc(values / 5), library="torch")
    name = NAMES.get(target) or target.replace("f", "float")
    assert_equal(run(f"x.to(tl.{name})", tmp_path, target, x, library="torch"), x.values)


def test_bitcast(rng, tmp_path: Path) -> None:
    x = floats(rng)
    out = run("x.to(tl.int32, bitcast=True)", tmp_path, "i32", x)
    assert_equal(out, x.values.astype(np.float32).view(np.int32))


def test_half_conversions_round_to_nearest_even_everywhere(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Every f16 exactly, and the midpoints between neighbours, in blocks."""
    every = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    middles = (every[:-1] + every[1:]) / 2
    values = np.concatenate([every, middles, -every, -middles, [65519.9, 65520.0, 1e6, np.inf, -np.inf, np.nan]])
    starts = range(0, values.size, BLOCK * 8)
    for start in sampling.some(starts, len(starts) // 4, request.node.nodeid, request.config):
        for block in np.array_split(values[start : start + BLOCK * 8], 8):
            if block.size:
                with np.errstate(over="ignore"):
                    expected = block.astype(np.float32).astype(np.float16).astype(np.float64)
                out = run("x.to(tl.float16)", tmp_path, "f16", Buffer(block.shape, "f32", block))
                assert_equal(out, expected)
