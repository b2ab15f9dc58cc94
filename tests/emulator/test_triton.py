"""PTX that Triton compiles, emulated and compared with NumPy: code that somebody else wrote for real GPUs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.e2e.philox import uniform
from tritium.emulator import launch

KERNELS = Path(__file__).with_name("triton_kernels.py")


@pytest.fixture(params=[80, 90])
def compiled(request, triton_oracle):
    """A function that compiles a kernel and gives what launches it."""

    def prepare(name, signature, constants, **options):
        divisible = {k: 16 for k, ty in signature.items() if ty[0] == "*"}
        target = f"cuda:{request.param}"
        ptx = triton_oracle.compile_kernel(KERNELS, name, signature, constants, target, divisible, **options)["ptx"]
        shared = triton_oracle.resources["shared"]
        return lambda grid, *arguments: launch(ptx, grid, arguments, shared_bytes=shared)

    return prepare


def test_add(compiled, seed):
    rng = np.random.default_rng(seed)
    run = compiled("add", {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": 512})
    x, y, out = rng.standard_normal(1500, np.float32), rng.standard_normal(1500, np.float32), np.zeros(1500, np.float32)
    run(3, x, y, out, 1500)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("warps", [1, 4, 8])
def test_softmax(compiled, seed, warps):
    rng = np.random.default_rng(seed)
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "columns": "i32"}
    run = compiled("softmax", signature, {"BLOCK": 1024}, num_warps=warps)
    x = rng.standard_normal((7, 781)).astype(np.float32)
    out = np.zeros_like(x)
    run(3, x, out, 7, 781)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(
    "ty, dtype, stages", [("fp16", np.float16, 1), ("fp16", np.float16, 4), ("fp32", np.float32, 3), ("i8", np.int8, 2)]
)
def test_matmul(triton_oracle, seed, ty, dtype, stages):
    rng = np.random.default_rng(seed)
    m, n, k = 64, 64, 128
    a, b = rng.integers(-4, 5, (m, k)).astype(dtype), rng.integers(-4, 5, (k, n)).astype(dtype)
    c = np.zeros((m, n), np.float32)
    signature = {"a_ptr": f"*{ty}", "b_ptr": f"*{ty}", "c_ptr": "*fp32", "K": "i32"}
    constants = {"M": m, "N": n, "BLOCK": 32}
    divisible = dict.fromkeys(signature, 16)
    ptx = triton_oracle.compile_kernel(
        KERNELS, "matmul", signature, constants, "cuda:80", divisible, num_stages=stages
    )["ptx"]
    assert "mma.sync" in ptx and (stages < 2 or "cp.async" in ptx)
    launch(ptx, 1, [a, b, c, k], shared_bytes=triton_oracle.resources["shared"])
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("ty, dtype", [("fp16", np.float16), ("fp32", np.float32), ("i8", np.int8)])
def test_matmul_of_warp_groups(triton_oracle, seed, ty, dtype):
    rng = np.random.default_rng(seed)
    m, n, k = 128, 64, 192
    a, b = rng.integers(-4, 5, (m, k)).astype(dtype), rng.integers(-4, 5, (k, n)).astype(dtype)
    c = np.zeros((m, n), np.float32)
    signature = {"a_ptr": f"*{ty}", "b_ptr": f"*{ty}", "c_ptr": "*fp32", "K": "i32"}
    constants = {"M": m, "N": n, "BLOCK": 64}
    stages = triton_oracle.compile_kernel(
        KERNELS, "matmul", signature, constants, "cuda:90", dict.fromkeys(signature, 16)
    )
    assert "wgmma.mma_async" in stages["ptx"]
    launch(stages["ptx"], 1, [a, b, c, k], shared_bytes=triton_oracle.resources["shared"])
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("warps", [1, 4])
def test_scans(compiled, seed, warps):
    rng = np.random.default_rng(seed)
    signature = {"x_ptr": "*i32", "sums_ptr": "*i32", "best_ptr": "*i32", "at_ptr": "*i32"}
    run = compiled("scans", signature, {"BLOCK": 512}, num_warps=warps)
    x = rng.integers(-1000, 1000, 512).astype(np.int32)
    sums, best, at = np.zeros(512, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
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
    x, out = np.ones(500, np.float32), np.zeros(500, np.float32)
    run(2, x, out, 500, 0.25, 77)
    np.testing.assert_allclose(out, np.where(uniform(77, np.arange(500)) > np.float32(0.25), 4 / 3, 0), rtol=1e-6)


def test_locks_between_blocks(compiled):
    run = compiled("locked_sum", {"x_ptr": "*fp32", "total_ptr": "*fp32", "lock_ptr": "*i32"}, {"BLOCK": 128})
    x, total, lock = np.arange(128 * 12, dtype=np.float32), np.zeros(128, np.float32), np.zeros(1, np.int32)
    run(12, x, total, lock)
    np.testing.assert_array_equal(total, x.reshape(12, 128).sum(axis=0))
    assert lock[0] == 0


@pytest.mark.parametrize("ty, dtype", [("fp16", np.float16), ("fp32", np.float32), ("i8", np.int8)])
def test_transpose(compiled, ty, dtype):
    run = compiled("transpose", {"x_ptr": f"*{ty}", "out_ptr": f"*{ty}"}, {"M": 64, "N": 32})
    x = (np.arange(64 * 32) % 61).reshape(64, 32).astype(dtype)
    out = np.zeros((32, 64), dtype)
    run(1, x, out)
    np.testing.assert_array_equal(out, x.T * 2)
