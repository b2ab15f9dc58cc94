"""Whole matrix products for GPUs, from Python to PTX, in the emulator against NumPy's f64.

All types, odd sizes, numbers of warps, transposed operands, precisions and accumulators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl
from tests.backends.nvidia.texts import missing
from tests.conversion.test_narrow_floats import value_of
from tests.conversion.ttg_to_llvm.harness import Gpu
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource

LAST = "cubin" if missing("ptxas") is None else "ptx"
ARRAYS = {"fp16": np.float16, "bf16": np.uint16, "fp32": np.float32, "fp64": np.float64, "i8": np.int8, "i32": np.int32}
ARRAYS |= {"fp8e5": np.uint8, "fp8e4nv": np.uint8}
FP8 = {"fp8e5": "f8E5M2", "fp8e4nv": "f8E4M3FN"}


def numbers(x: np.ndarray, dtype: str) -> np.ndarray:
    """What an array of these elements holds, as f64."""
    if dtype == "bf16":
        return (x.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype in FP8:
        return np.array([value_of(p, FP8[dtype]) for p in range(256)])[x]
    return x.astype(np.float64)


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype in FP8:
        x = rng.integers(0, 0x78, shape).astype(np.uint8)
        return np.where(x & 0x40, x & 0x47, x) | (rng.integers(0, 2, shape) << 7).astype(np.uint8)
    if dtype.startswith("i"):
        return rng.integers(-100, 100, shape).astype(ARRAYS[dtype])
    x = rng.standard_normal(shape).astype(np.float32)
    return (x.view(np.uint32) >> 16).astype(np.uint16) if dtype == "bf16" else x.astype(ARRAYS[dtype])


def compiled(fn: Any, types: dict[str, str], constants: dict[str, Any], capability: int, **options: Any) -> Gpu:
    """A kernel for arguments of these types; addresses are divisible by 16."""
    signature = {n: types.get(n, "constexpr") for n in fn.arg_names}
    attrs = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(fn.arg_names) if types.get(n, "").startswith("*")}
    source = ASTSource(fn, signature, constants, attrs)
    return Gpu(tt.compile(source, target=GPUTarget("cuda", capability, 32), options=options, until=LAST))


@tt.jit
def matmul(
    a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    OUT: tl.constexpr, PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr  #
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), OUT)
    for first in range(0, K, BLOCK_K):
        k = first + tl.arange(0, BLOCK_K)
        x = tl.load(
            a + rows[:, None] * stride_am + k[None, :] * stride_ak,
            mask=(rows[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        y = tl.load(
            b + k[:, None] * stride_bk + columns[None, :] * stride_bn,
            mask=(k[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(x, y, total, input_precision=PRECISION, out_dtype=OUT)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=inside)


RESULT = {"fp64": "fp64", "i8": "i32"}
LANGUAGE = {"fp16": tl.float16, "fp32": tl.float32, "fp64": tl.float64, "i32": tl.int32}


def multiply(
    dtype: str,
    sizes: tuple[int, int, int] = (37, 29, 45),
    block: tuple[int, int, int] = (32, 32, 32),
    capability: int = 80,
    transposed: str = "",
    precision: str = "ieee",
    result: str = "",
    **options: Any,
) -> tuple[np.ndarray, np.ndarray, Gpu]:
    """The product by an emulated GPU, and by NumPy."""
    m, n, k = sizes
    result = result or RESULT.get(dtype, "fp32")
    rng = np.random.default_rng(m + n + k)
    a, b = random_array(rng, (m, k), dtype), random_array(rng, (k, n), dtype)
    in_memory = [np.ascontiguousarray(x.T if name in transposed else x) for name, x in (("a", a), ("b", b))]
    strides = [1, m] if "a" in transposed else [k, 1]
    strides += [1, k] if "b" in transposed else [n, 1]
    c = np.full((m, n), 113, ARRAYS[result])
    types = {"a": f"*{dtype}", "b": f"*{dtype}", "c": f"*{result}", **dict.fromkeys("MNK", "i32")}
    types |= dict.fromkeys(("stride_am", "stride_ak", "stride_bk", "stride_bn"), "i32")
    sizes_of_block = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), block))
    constants = {"OUT": LANGUAGE[result], "PRECISION": precision, **sizes_of_block}
    gpu = compiled(matmul, types, constants, capability, **options)
    gpu.launch((-(-m // block[0]), -(-n // block[1])), *in_memory, c, m, n, k, *strides)
    return c.astype(np.float64), numbers(a, dtype) @ numbers(b, dtype), gpu


#: The largest error of a sum of 45 products, and the instruction on sm_80 and sm_90.
DTYPES = {
    "fp16": (1e-5, "f32.f16.f16.f32", "f32.f16.f16.f32"),
    "bf16": (1e-5, "f32.bf16.bf16.f32", "f32.bf16.bf16.f32"),
    "fp8e5": (1e-4, "f32.f16.f16.f32", "f32.f16.f16.f32"),
    "fp8e4nv": (1e-4, "f32.e4m3.e4m3.f32", "f32.f16.f16.f32"),
    "i8": (0, "s32.s8.s8.s32", "s32.s8.s8.s32"),
    "fp64": (1e-13, "f64.f64.f64.f64", "f64.f64.f64.f64"),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
def test_types(dtype: str, transposed: str) -> None:
    error, *names = DTYPES[dtype]
    for capability, name in zip((89 if dtype == "fp8e4nv" else 80, 90), names):
        ours, exact, gpu = multiply(dtype, capability=capability, transposed=transposed)
        assert np.abs(ours - exact).max() <= error
        assert gpu.count("mma.sync") == gpu.count(rf"mma.sync.*\.{name}") > 0


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_warps(warps: int) -> None:
    for block in ((32, 32, 16), (16, 64, 32), (64, 16, 64)):
        ours, exact, _ = multiply("fp16", (33, 65, 40), block, num_warps=warps)
        assert np.abs(ours - exact).max() <= 1e-5


@pytest.mark.parametrize(
    ("precision", "error", "products"),
    [("ieee", 1e-5, 0), ("tf32", 3e-2, 1), ("tf32x3", 1e-5, 3), ("bf16x3", 1e-3, 3), ("bf16x6", 1e-5, 6)],
)
def test_precisions_of_f32(precision: str, error: float, products: int) -> None:
    for capability in (80, 90):
        ours, exact, gpu = multiply("fp32", (20, 20, 40), (16, 16, 16), capability, precision=precision)
        assert np.abs(ours - exact).max() <= error
        pieces = gpu.ttgir.count("tt.dot ") / max(1, products)  # a single product is cut in two, to read ahead
        assert pieces == 1 or (pieces == 2 and products == 1)
        assert bool(gpu.count("mma.sync")) == bool(products)


def test_f32_before_tensor_cores() -> None:
    """sm_75 multiplies and adds; of tf32 it knows nothing."""
    for precision in ("ieee", "tf32", "tf32x3"):
        ours, exact, gpu = multiply("fp32", (20, 20, 40), (16, 16, 16), 75, precision=precision)
        assert np.abs(ours - exact).max() <= 1e-5 and gpu.count("mma.sync") == 0
    for dtype in ("fp16", "i8"):
        ours, exact, gpu = multiply(dtype, (20, 20, 40), (16, 16, 32), 75)
        assert np.abs(ours - exact).max() <= 1e-4 and gpu.count("mma.sync") == 0


@pytest.mark.parametrize(("dtype", "k"), [("fp16", 16), ("i8", 32), ("fp32", 8), ("fp64", 4), ("fp8e5", 32)])
def test_blocks_smaller_than_an_instruction(dtype: str, k: int) -> None:
    for block, warps, capability in (((1, 1, k), 4, 80), ((2, 4, 2 * k), 1, 90), ((32, 2, k), 4, 80)):
        sizes = (block[0] + 1, block[1] + 3, k + 5)
        ours, exact, _ = multiply(dtype, sizes, block, capability, precision="tf32", num_warps=warps)
        assert np.abs(ours - exact).max() <= (3e-2 if dtype == "fp32" else 1e-4)


def test_sums_of_halves() -> None:
    ours, exact, gpu = multiply("fp16", (20, 20, 40), (16, 16, 16), result="fp16")
    assert np.abs(ours - exact).max() <= 0.1
    assert gpu.count(r"mma.sync.*\.f16.f16.f16.f16") == gpu.count("mma.sync") > 0


@tt.jit
def chain(a, b, c, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """(a @ b) @ c, the first product's result the second's operand, as in attention."""
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.dot(tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + j[None, :]))
    y = tl.dot(x.to(tl.float16), tl.load(c + j[:, None] * K + k[None, :]))
    tl.store(out + i[:, None] * K + k[None, :], y)


def test_the_result_of_a_product_is_an_operand_without_moving() -> None:
    m, n, k = 64, 32, 16
    rng = np.random.default_rng(3)
    a, b, c = (random_array(rng, s, "fp16") for s in ((m, k), (k, n), (n, k)))
    out = np.full((m, k), 113, np.float32)
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "out": "*fp32"}
    gpu = compiled(chain, types, {"M": m, "N": n, "K": k}, 80)
    gpu.launch(1, a, b, c, out)
    exact = (a.astype(float) @ b.astype(float)).astype(np.float16).astype(float) @ c.astype(float)
    assert np.abs(out - exact).max() <= 0.1
    names = gpu.opcodes()
    products = [i for i, name in enumerate(names) if name.startswith("mma")]
    between = names[products[0] : products[-1]]  # only what is loaded goes through memory there
    assert not [name for name in between if name.startswith(("ld.shared", "shfl"))]


@tt.jit
def batched(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):
    n, i, j, k = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + n[:, None, None] * (M * K) + i[None, :, None] * K + k[None, None, :])
    y = tl.load(b + n[:, None, None] * (K * N) + k[None, :, None] * N + j[None, None, :])
    tl.store(c + n[:, None, None] * (M * N) + i[None, :, None] * N + j[None, None, :], tl.dot(x, y, out_dtype=OUT))


@pytest.mark.parametrize("dtype", ["fp16", "i8", "fp32"])
@pytest.mark.parametrize("size", [1, 2, 8])
def test_batches(dtype: str, size: int) -> None:
    m, n, k = 16, 32, 32
    rng = np.random.default_rng(size)
    a, b = random_array(rng, (size, m, k), dtype), random_array(rng, (size, k, n), dtype)
    result = RESULT.get(dtype, "fp32")
    c = np.full((size, m, n), 113, ARRAYS[result])
    constants = {"B": size, "M": m, "N": n, "K": k, "OUT": LANGUAGE[result]}
    gpu = compiled(batched, {"a": f"*{dtype}", "b": f"*{dtype}", "c": f"*{result}"}, constants, 80)
    gpu.launch(1, a, b, c)
    assert np.abs(c - a.astype(float) @ b.astype(float)).max() <= (5e-2 if dtype == "fp32" else 1e-5)
    assert gpu.count("mma.sync") > 0


@tt.jit
def scaled(
    a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr  #
):  # fmt: skip
    i, j, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    x = tl.load(a + i[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j[None, :])
    s = tl.load(a_scale + i[:, None] * (K // 32) + g[None, :])
    t = tl.load(b_scale + j[:, None] * (K // 32) + g[None, :])
    tl.store(c + i[:, None] * N + j[None, :], tl.dot_scaled(x, s, LEFT, y, t, RIGHT))


@pytest.mark.parametrize(("left", "right"), [("e5m2", "e5m2"), ("bf16", "e5m2"), ("fp16", "e5m2"), ("e4m3", "e5m2")])
def test_scaled_products(left: str, right: str) -> None:
    """Exact but for the sum: bf16 and tf32 hold the scaled elements."""
    m, n, k = 32, 16, 64
    names = {"e5m2": "fp8e5", "e4m3": "fp8e4nv"}
    ta, tb = names.get(left, left), names.get(right, right)
    rng = np.random.default_rng(5)
    a, b = random_array(rng, (m, k), ta), random_array(rng, (k, n), tb)
    s, t = (rng.integers(120, 134, (size, k // 32)).astype(np.uint8) for size in (m, n))
    c = np.full((m, n), 113, np.float32)
    types = {"a": f"*{ta}", "b": f"*{tb}", "c": "*fp32", "a_scale": "*u8", "b_scale": "*u8"}
    gpu = compiled(scaled, types, {"M": m, "N": n, "K": k, "LEFT": left, "RIGHT": right}, 90)
    gpu.launch(1, a, s, b, t, c)
    x = numbers(a, ta) * np.repeat(2.0 ** (s.astype(float) - 127), 32, axis=1)
    y = numbers(b, tb) * np.repeat(2.0 ** (t.astype(float) - 127), 32, axis=1).T
    exact = x @ y
    assert np.abs(c - exact).max() <= 1e-5 * np.abs(x).max() * np.abs(y).max() * k
    assert gpu.count("mma.sync") > 0


@tt.jit
def beside_halves(
    a, b, scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FORMAT: tl.constexpr, SWAPPED: tl.constexpr,
    FAST: tl.constexpr = False
):  # fmt: skip
    i, j, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    packed: tl.constexpr = K // 2 if FORMAT == "e2m1" else K
    x = tl.load(a + i[:, None] * K + tl.arange(0, K)[None, :])
    y = tl.load(b + j[:, None] * packed + tl.arange(0, packed)[None, :])
    s = tl.load(scale + j[:, None] * (K // 32) + g[None, :])
    if SWAPPED:
        z = tl.dot_scaled(y, s, FORMAT, x.T, None, "fp16", fast_math=FAST).T
    else:
        z = tl.dot_scaled(x, None, "fp16", y.T, s, FORMAT, fast_math=FAST)
    tl.store(c + i[:, None] * N + j[None, :], z)


FOUR_BITS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


SCALED_TYPES = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5"}


def elements(raw: np.ndarray, kind: str) -> np.ndarray:
    """The numbers that rows of bytes stand for, two a byte where they have 4 bits."""
    if kind == "e2m1":
        return FOUR_BITS[np.stack([raw & 15, raw >> 4], 2).reshape(len(raw), -1)]
    return numbers(raw, SCALED_TYPES[kind])


def scaled_operand(rng: np.random.Generator, n: int, k: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bytes of n rows of k elements, exponents of a scale for every 32, and the numbers they stand for."""
    exponents = rng.integers(120, 134, (n, k // 32)).astype(np.uint8)
    if kind == "e2m1":
        raw = rng.integers(0, 256, (n, k // 2)).astype(np.uint8)
    else:
        raw = random_array(rng, (n, k), SCALED_TYPES[kind])
        raw[1, 3], raw[2, 5] = (0x7C, 0x7F) if kind == "e5m2" else (0x7E, 0x7F)  # infinity or the largest; NaN
    plain = elements(raw, kind)
    exponents[3, 0], exponents[4, 0], exponents[5, 1] = 255, 254, 0
    powers = np.where(exponents == 255, np.nan, 2.0 ** (exponents.astype(float) - 127))
    with np.errstate(over="ignore"):
        return raw, exponents, (plain * np.repeat(powers, 32, axis=1)).astype(np.float32).astype(float)


@pytest.mark.sample(2)
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", ["e2m1", "e4m3", "e5m2"])
def test_scaled_products_with_halves(kind: str, swapped: bool, capability: int) -> None:
    """fp16 has more bits than bf16 and is multiplied as two of them: every number, infinity and NaN as in f64."""
    if kind == "e4m3" and capability == 80:
        pytest.skip("fp8e4nv begins at 89")
    m, n, k = (16, 128, 64) if swapped else (128, 16, 64)
    rng = np.random.default_rng(7)
    a = (rng.standard_normal((m, k)) * 2.0 ** rng.integers(-12, 4, (m, 1))).astype(np.float16)
    a[0, :8] = 2.0 ** np.arange(-24, -16)  # below the smallest normal number
    a[1, 3:6] = [0, -0.0, 65504]
    a[2, 5], a[3, 6], a[4, 40], a[6, 7] = np.inf, -np.inf, np.nan, 1.0
    raw, exponents, y = scaled_operand(rng, n, k, kind)
    c = np.full((m, n), 113, np.float32)
    types = {"a": "*fp16", "b": f"*{SCALED_TYPES[kind]}", "scale": "*u8", "c": "*fp32"}
    constants = {"M": m, "N": n, "K": k, "FORMAT": kind, "SWAPPED": swapped}
    gpu = compiled(beside_halves, types, constants, capability)
    gpu.launch(1, a, raw, exponents, c)
    with np.errstate(invalid="ignore", over="ignore"):
        exact = (a.astype(float) @ y.T).astype(np.float32)
        size = (np.abs(a.astype(float)) @ np.abs(y).T).astype(np.float32)
    assert np.array_equal(np.isnan(c), np.isnan(exact))
    infinite, finite = np.isinf(exact), np.isfinite(exact)
    assert infinite.any() and np.array_equal(c[infinite], exact[infinite])
    assert finite.any() and np.all(np.abs(c[finite] - exact[finite]) <= 1e-6 * size[finite])
    assert gpu.count("wgmma.mma_async" if capability == 90 else "mma.sync") > 0
    assert gpu.count("tf32") == 0


@pytest.mark.sample(2)
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", ["e2m1", "e4m3", "e5m2"])
def test_scaled_products_with_halves_in_fast_math(kind: str, swapped: bool, capability: int) -> None:
    """fp16 is what is multiplied, once: exact where it holds the scaled elements, infinite beyond, 0 below."""
    if kind == "e4m3" and capability == 80:
        pytest.skip("fp8e4nv begins at 89")
    m, n, k = (16, 128, 64) if swapped else (128, 16, 64)
    rng = np.random.default_rng(8)
    a = rng.standard_normal((m, k)).astype(np.float16)
    raw = rng.integers(0, 256, (n, k // 2 if kind == "e2m1" else k)).astype(np.uint8)
    exponents = rng.integers(115, 128, (n, k // 32)).astype(np.uint8)
    exponents[1, 0], exponents[2, 1], exponents[3, 0] = 200, 80, 255
    raw[1:4] = 0x33 if kind == "e2m1" else 0x40
    if kind != "e2m1":
        raw[~np.isfinite(elements(raw, kind))] = 0
    plain = elements(raw, kind)
    with np.errstate(over="ignore", invalid="ignore"):
        factors = np.repeat((2.0 ** (exponents.astype(float) - 127)).astype(np.float16).astype(float), 32, axis=1)
        y = (plain * factors).astype(np.float16).astype(float)
        exact, size = a.astype(float) @ y.T, np.abs(a.astype(float)) @ np.abs(y).T
    c = np.full((m, n), 113, np.float32)
    types = {"a": "*fp16", "b": f"*{SCALED_TYPES[kind]}", "scale": "*u8", "c": "*fp32"}
    constants = {"M": m, "N": n, "K": k, "FORMAT": kind, "SWAPPED": swapped}
    gpu = compiled(beside_halves, types, {**constants, "FAST": True}, capability)
    gpu.launch(1, a, raw, exponents, c)
    finite = np.isfinite(exact)
    assert 0.7 < finite.mean() < 1 and not np.isfinite(c[~finite]).any()
    assert np.all(np.abs(c[finite] - exact[finite]) <= 1e-6 * size[finite])
    instruction = "wgmma.mma_async" if capability == 90 else "mma.sync"
    twice = compiled(beside_halves, types, constants, capability)
    assert 2 * gpu.count(instruction) == twice.count(instruction) > 0 == gpu.count("bf16")
