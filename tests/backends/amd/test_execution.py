"""Kernels compiled for AMD GPUs, executed by the emulator of AMDGCN, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.backends.amd import kernels
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.emulator.amdgcn import launch
from tritium.emulator.errors import DeviceAssertion

TARGETS = [GPUTarget("hip", "gfx942", 64), GPUTarget("hip", "gfx1100", 32)]
POINTER = {"float32": "*fp32", "float16": "*fp16", "int32": "*i32", "int8": "*i8", "int64": "*i64"}
Run = Callable[..., None]


@pytest.fixture(params=TARGETS, ids=lambda t: t.arch)
def run(request: pytest.FixtureRequest) -> Run:
    """A function that compiles a kernel for the arguments given to it, and executes it."""

    def execute(
        name: str, grid: int | Sequence[int], *arguments: Any, num_warps: int = 4, debug: bool = False, **constants: int
    ) -> None:
        fn = getattr(kernels, name)
        types = [POINTER[a.dtype.name] if isinstance(a, np.ndarray) else "i32" for a in arguments]
        signature = {**dict(zip(fn.arg_names, types)), **dict.fromkeys(constants, "constexpr")}
        aligned = {(i,): [["tt.divisibility", 16]] for i, ty in enumerate(types) if ty[0] == "*"}
        source = ASTSource(fn, signature, constants, aligned)
        kernel = compile(source, target=request.param, options={"num_warps": num_warps, "debug": debug})
        launch(kernel.asm["amdgcn"], grid, arguments, shared_bytes=kernel.metadata.shared)

    return execute


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def unwritten(*shape: int, dtype: Any = np.float32) -> Any:
    """An output with a value that no kernel stores."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else -77, dtype)


def test_masked_add(run: Run, rng: np.random.Generator) -> None:
    x, y, out = rng.standard_normal(700, np.float32), rng.standard_normal(700, np.float32), unwritten(700)
    run("add", 3, x, y, out, 700, B=256)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("warps", [1, 8])
def test_softmax(run: Run, rng: np.random.Generator, warps: int) -> None:
    x, out = rng.standard_normal((3, 781), np.float32), unwritten(3, 781)
    run("softmax", 3, x, out, 781, B=1024, num_warps=warps)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


def test_scans_in_both_directions(run: Run, rng: np.random.Generator) -> None:
    x, out = rng.integers(-5, 6, 512).astype(np.float32), unwritten(2, 512)
    run("scans", 1, x, out, B=512)
    np.testing.assert_array_equal(out, [np.cumsum(x), np.cumsum(x[::-1])[::-1]])


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64])
def test_transpose_by_lds(run: Run, rng: np.random.Generator, dtype: Any) -> None:
    x, out = rng.integers(-100, 100, (64, 32)).astype(dtype), unwritten(32, 64, dtype=dtype)
    run("transpose", 1, x, out, M=64, N=32)
    np.testing.assert_array_equal(out, x.T)


def test_argmax(run: Run, rng: np.random.Generator) -> None:
    x, out = rng.standard_normal((32, 64), np.float32), unwritten(32, dtype=np.int32)
    run("argmax", 1, x, out, M=32, N=64)
    np.testing.assert_array_equal(out, x.argmax(axis=1))


def test_histogram_sort_and_gather(run: Run, rng: np.random.Generator) -> None:
    x, bins, ordered = rng.integers(0, 64, 256).astype(np.int32), unwritten(64, dtype=np.int32), np.zeros(128, np.int32)
    run("histogram", 1, x, bins, B=256)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=64))
    run("sort", 1, x[:128].copy(), ordered, B=128)
    np.testing.assert_array_equal(ordered, np.sort(x[:128]))
    values, out = rng.standard_normal(256, np.float32), unwritten(256)
    run("gather", 1, values, x, out, B=256)
    np.testing.assert_array_equal(out, values[x])


def test_atomics(run: Run, rng: np.random.Generator) -> None:
    x = rng.integers(1, 6, (4, 128)).astype(np.float32)
    out, count = np.zeros((2, 128), np.float32), np.zeros(2, np.int32)
    run("atomics", 4, x, out, count, B=128)
    np.testing.assert_array_equal(out, [x.sum(axis=0), np.where(np.arange(128) < 40, x.max(axis=0), 0)])
    np.testing.assert_array_equal(count, [4, 7])


def test_packed_additions_of_halves(run: Run, rng: np.random.Generator) -> None:
    x, out = rng.integers(-5, 6, (2, 1024)).astype(np.float16), np.zeros(1024, np.float16)
    run("additions", 2, x, out, B=1024)
    np.testing.assert_array_equal(out, x.sum(axis=0))


def test_functions_and_conversions(run: Run, rng: np.random.Generator) -> None:
    x, out = (3 * rng.standard_normal(128)).astype(np.float32), unwritten(7, 128)
    run("functions", 1, x, out, B=128)
    bits = x.view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).view(np.float32)
    wanted = [np.exp(x), np.log(abs(x)), np.sin(x), np.sqrt(abs(x)), x / np.float32(3.7) / x, np.trunc(x), rounded]
    np.testing.assert_allclose(out, wanted, rtol=2e-6, atol=1e-7)


def test_library_functions_without_a_library(run: Run) -> None:
    x = np.array([0.0, -0.0, 2.5, -3.5, 1e-40, np.inf, -np.inf, np.nan] * 8, np.float32)
    out, at = unwritten(10, 64), np.arange(64)
    run("library", 1, x, out, B=64)
    finite = np.where(np.isfinite(x), x, 0)
    wanted = [
        np.abs(x), np.rint(x), np.isnan(x) + 2.0 * np.isinf(x), np.isfinite(x), np.signbit(x) * 1.0,
        [bin(i).count("1") for i in at], [32 - int(i).bit_length() for i in at], np.rint(finite), x * 8,
        np.where(x < 0, x, np.float32(0)),
    ]  # fmt: skip
    np.testing.assert_array_equal(out[:4], wanted[:4])
    np.testing.assert_array_equal(out[4][~np.isnan(x)] != 0, np.signbit(x)[~np.isnan(x)])
    np.testing.assert_array_equal(out[5:], wanted[5:])
    np.testing.assert_array_equal(np.signbit(out[9]), np.signbit(wanted[9]))  # -0.0 is not below 0.0


def test_a_false_assertion_traps_at_its_line(run: Run) -> None:
    x, out = np.arange(1, 129, dtype=np.float32), unwritten(128)
    run("asserting", 1, x, out, B=128, debug=True)
    np.testing.assert_array_equal(out, x)
    x[77] = -1
    with pytest.raises(DeviceAssertion, match=r"(?s)positive.*s_trap.*kernels\.py:\d+:5: tl\.device_assert"):
        run("asserting", 1, x, out, B=128, debug=True)


def test_program_ids_and_counts(run: Run) -> None:
    out = unwritten(2, 2, 3, dtype=np.int32)
    run("places", (3, 2, 2), out)
    np.testing.assert_array_equal(out, np.full((2, 2, 3), 322))


def test_matmul_by_matrix_instructions(run: Run, rng: np.random.Generator) -> None:
    a, b = (rng.integers(-4, 5, (32, 32)).astype(np.float16) for _ in range(2))
    c = unwritten(32, 32)
    run("matmul", 1, a, b, c, 32, M=32, N=32, B=16)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:overflow")
def test_division_is_correctly_rounded(run: Run, rng: np.random.Generator) -> None:
    special = np.array([0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3.4e38, 1.2e-38], np.float32)
    pairs = np.stack(np.meshgrid(special, special)).reshape(2, -1)
    bits = rng.integers(0, 1 << 32, (2, 903), np.uint32).view(np.float32)
    x, y = np.concatenate([pairs, bits], axis=1).astype(np.float32)
    out = unwritten(len(x))
    run("divide", 4, x, y, out, len(x), B=256)
    np.testing.assert_array_equal(out, x / y)
    finite = ~np.isnan(out)
    np.testing.assert_array_equal(np.signbit(out[finite]), np.signbit((x / y)[finite]))
