"""Assembly that Triton compiles for AMD GPUs, emulated and compared with NumPy: the emulator and our compiler share
nothing, and what the emulator is measured by first is code that somebody else compiles for the hardware."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.philox import uniform
from tests.emulator.amdgcn.kernels import CHIPS
from tritium.emulator.amdgcn import launch

KERNELS = Path(__file__).parent.with_name("triton_kernels.py")


@pytest.fixture(params=CHIPS)
def compiled(request, triton_oracle):
    """A function that compiles a kernel and returns a launcher; its `.text` is the assembly."""

    def prepare(name, signature, constants, **options):
        divisible = {k: 16 for k, ty in signature.items() if ty[0] == "*"}
        target = f"hip:{request.param}"
        text = triton_oracle.compile_kernel(KERNELS, name, signature, constants, target, divisible, **options)["amdgcn"]
        shared = triton_oracle.resources["shared"]

        def run(grid, *arguments):
            return launch(text, grid, arguments, shared_bytes=shared)

        run.text, run.chip = text, request.param
        return run

    return prepare


def poisoned(shape, dtype=np.float32):
    """An output with a value that no kernel stores."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else -77, dtype)


def bf16(values):
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def test_add(compiled, seed):
    rng = np.random.default_rng(seed)
    run = compiled("add", {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": 512})
    x, y, out = rng.standard_normal(1500, np.float32), rng.standard_normal(1500, np.float32), poisoned(1500)
    run(3, x, y, out, 1500)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("warps", [1, 4])
def test_softmax(compiled, seed, warps):
    rng = np.random.default_rng(seed)
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "columns": "i32"}
    run = compiled("softmax", signature, {"BLOCK": 1024}, num_warps=warps)
    x = rng.standard_normal((7, 781)).astype(np.float32)
    out = poisoned(x.shape)
    run(3, x, out, 7, 781)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("ty, stages", [("fp16", 1), ("fp16", 3), ("bf16", 2), ("fp32", 2), ("i8", 2)])
def test_matmul_by_matrix_instructions(compiled, seed, ty, stages):
    rng = np.random.default_rng(seed)
    m, n, k = 64, 64, 128
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n))
    c = poisoned((m, n))
    signature = {"a_ptr": f"*{ty}", "b_ptr": f"*{ty}", "c_ptr": "*fp32", "K": "i32"}
    run = compiled("matmul", signature, {"M": m, "N": n, "BLOCK": 32}, num_stages=stages)
    convert = bf16 if ty == "bf16" else {"fp16": np.float16, "fp32": np.float32, "i8": np.int8}[ty]
    inputs = [convert(x) if ty == "bf16" else x.astype(convert) for x in (a, b)]
    run(1, *inputs, c, k)
    np.testing.assert_array_equal(c, (a @ b).astype(np.float32))
    expected = "v_mfma_" if run.chip == "gfx942" else "v_fmac_f32" if ty == "fp32" else "v_wmma_"
    assert expected in run.text


def test_matmul_of_eight_bit_floats(triton_oracle, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 256, (2, 64, 64), np.uint8)
    for codes in (a, b):
        codes[(codes & 0x7F > 0x60) | (codes == 0x80)] = 0  # no large ones, and no NaN
    signature = {"a_ptr": "*fp8e4b8", "b_ptr": "*fp8e4b8", "c_ptr": "*fp32", "K": "i32"}
    text = triton_oracle.compile_kernel(
        KERNELS, "matmul", signature, {"M": 64, "N": 64, "BLOCK": 64}, "hip:gfx942", dict.fromkeys(signature, 16)
    )["amdgcn"]
    c = poisoned((64, 64))
    launch(text, 1, [a, b, c, 64], shared_bytes=triton_oracle.resources["shared"])

    def value(code):
        exponent, fraction = code >> 3 & 15, code & 7
        magnitude = np.where(exponent == 0, fraction / 8 * 2.0**-7, (1 + fraction / 8) * 2.0 ** (exponent - 8.0))
        return np.where(code > 127, -magnitude, magnitude)

    a, b = value(a.astype(int)), value(b.astype(int))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-5 * np.abs(a).max() * np.abs(b).max())
    assert "v_mfma_f32_" in text and "_fp8_fp8" in text


def test_layer_norm(compiled, seed):
    rng = np.random.default_rng(seed)
    signature = {"x_ptr": "*fp16", "out_ptr": "*fp16", "weight_ptr": "*fp32", "bias_ptr": "*fp32", "columns": "i32"}
    run = compiled("layer_norm", signature | {"eps": "fp32"}, {"BLOCK": 256})
    x = rng.standard_normal((4, 600)).astype(np.float16)
    w, b = rng.standard_normal((2, 600)).astype(np.float32)
    out = poisoned(x.shape, np.float16)
    run(4, x, out, w, b, 600, 1e-5)
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    want = (wide - wide.mean(axis=1, keepdims=True)) * scale * w + b
    np.testing.assert_allclose(out, want, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("warps", [1, 4])
def test_scans_and_reductions(compiled, seed, warps):
    rng = np.random.default_rng(seed)
    signature = {"x_ptr": "*i32", "sums_ptr": "*i32", "best_ptr": "*i32", "at_ptr": "*i32"}
    run = compiled("scans", signature, {"BLOCK": 512}, num_warps=warps)
    x = rng.integers(-1000, 1000, 512).astype(np.int32)
    sums, best, at = poisoned(512, np.int32), poisoned(1, np.int32), poisoned(1, np.int32)
    run(1, x, sums, best, at)
    np.testing.assert_array_equal(sums, np.cumsum(x))
    assert best[0] == x.max() and at[0] == x.argmax()


def test_atomics_and_histogram(compiled, seed):
    rng = np.random.default_rng(seed)
    signature = {"x_ptr": "*i32", "bins_ptr": "*i32", "counts_ptr": "*i32", "n": "i32"}
    run = compiled("count", signature, {"BLOCK": 256, "BINS": 16})
    x = rng.integers(0, 16, 900).astype(np.int32)
    bins, counts = np.zeros(16, np.int32), np.zeros(16, np.int32)
    run(4, x, bins, counts, 900)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=16))
    np.testing.assert_array_equal(bins, counts)


def test_dropout(compiled):
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "p": "fp32", "seed": "i32"}
    run = compiled("dropout", signature, {"BLOCK": 256})
    x, out = np.ones(500, np.float32), poisoned(500)
    run(2, x, out, 500, 0.25, 77)
    np.testing.assert_allclose(out, np.where(uniform(77, np.arange(500)) > np.float32(0.25), 4 / 3, 0), rtol=1e-6)


def test_locks_between_workgroups(compiled):
    run = compiled("locked_sum", {"x_ptr": "*fp32", "total_ptr": "*fp32", "lock_ptr": "*i32"}, {"BLOCK": 128})
    x, total, lock = np.arange(128 * 6, dtype=np.float32), np.zeros(128, np.float32), np.zeros(1, np.int32)
    run(6, x, total, lock)
    np.testing.assert_array_equal(total, x.reshape(6, 128).sum(axis=0))
    assert lock[0] == 0


@pytest.mark.parametrize("ty, dtype", [("fp16", np.float16), ("fp32", np.float32), ("i8", np.int8)])
def test_transpose(compiled, ty, dtype):
    run = compiled("transpose", {"x_ptr": f"*{ty}", "out_ptr": f"*{ty}"}, {"M": 64, "N": 32})
    x = (np.arange(64 * 32) % 61).reshape(64, 32).astype(dtype)
    out = poisoned((32, 64), dtype)
    run(1, x, out)
    np.testing.assert_array_equal(out, x.T * 2)


def test_functions(compiled, seed):
    x = np.abs(np.random.default_rng(seed).standard_normal(256)).astype(np.float32) * 20 + np.float32(1e-3)
    x[:3] = [1e38, 1e-38, 1e-40]
    out = poisoned((7, 256))
    compiled("functions", {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"BLOCK": 256})(1, x, out)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        want = [np.exp(wide), np.log(wide), np.sqrt(wide), np.sin(wide), 1 / wide]
        want += [np.vectorize(math.erf)(wide), 1 / np.sqrt(wide)]
        out[6, 1:3] = want[6][1:3] = 0  # v_rsq_f32 takes denormals for zero
        np.testing.assert_allclose(out, np.array(want).astype(np.float32), rtol=2e-5, atol=1e-6)


def test_sort(compiled, seed):
    x = np.random.default_rng(seed).standard_normal(256).astype(np.float32)
    out = poisoned(256)
    compiled("sort", {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"BLOCK": 256})(1, x, out)
    np.testing.assert_array_equal(out, np.sort(x))


@pytest.mark.parametrize("ty, dtype", [("i32", np.int32), ("i64", np.int64), ("i8", np.int8)])
def test_integer_division(compiled, seed, ty, dtype):
    rng = np.random.default_rng(seed)
    low, high = np.iinfo(dtype).min // 2, np.iinfo(dtype).max
    x, y = rng.integers(low, high, (2, 256)).astype(dtype)
    y[::2] = rng.integers(1, 60, 128)
    y[y == 0] = 3
    out = poisoned((2, 256), dtype)
    signature = {"x_ptr": f"*{ty}", "y_ptr": f"*{ty}", "out_ptr": f"*{ty}"}
    compiled("integer_division", signature, {"BLOCK": 256})(1, x, y, out)
    quotient = np.array([abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y)])
    np.testing.assert_array_equal(out[0], quotient.astype(dtype))
    np.testing.assert_array_equal(out[1], (x - quotient.astype(dtype) * y).astype(dtype))
