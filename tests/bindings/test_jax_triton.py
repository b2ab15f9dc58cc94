"""jax-triton compiles kernels with this package, as far as a machine without a GPU goes: to the PTX in its custom calls.

Needs jax, jax-triton and jax's CUDA plugin (`pip install jax jax-triton; pip install --no-deps jax-cuda12-plugin`); the
code that jax would launch is launched in the emulator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.harness import aligned
from tritium.dropin import alias
from tritium.emulator import launch

pytest.importorskip("jax")
alias.install()
jt = pytest.importorskip("jax_triton", exc_type=ImportError)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from jax_triton import triton_lib  # noqa: E402


@triton.jit
def add(x, y, n, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.autotune([triton.Config({"BM": 32, "BN": 32}, num_warps=2), triton.Config({"BM": 64, "BN": 64})], key=["K"])
@triton.jit
def matmul(a, b, K, c, BM: tl.constexpr, BN: tl.constexpr, N: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k, total = tl.arange(0, 32), tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, 32):
        right = tl.load(b + (at + k)[:, None] * N + n[None, :])
        total = tl.dot(tl.load(a + m[:, None] * K + (at + k)[None, :]), right, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


def lowered(function: Callable[..., Any], *arguments: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The kernels that jax-triton makes for a call: name, warps, CTAs of a cluster, shared memory, PTX, …"""
    made: list[tuple[Any, ...]] = []
    own = triton_lib.triton_kernel_call_lib.TritonKernel

    def record(*parts: Any) -> Any:
        made.append(parts)
        return own(*parts)

    monkeypatch.setattr(triton_lib.triton_kernel_call_lib, "TritonKernel", record)
    triton_lib._COMPILED_KERNEL_CACHE.clear()
    text = jax.jit(function).trace(*arguments).lower(lowering_platforms=("cuda",)).as_text()
    assert "triton_kernel_call" in text
    return made


@pytest.mark.parametrize("capability", [80, 90])
def test_a_kernel_with_a_scalar_and_a_mask(monkeypatch, capability: int) -> None:
    def call(x, y):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jt.triton_call(
            x, y, 100, kernel=add, out_shape=shape, grid=2, BLOCK=64, num_warps=2, compute_capability=capability
        )

    x, y = (np.arange(100, dtype=np.float32) * i for i in (1, 3))
    [(name, warps, ctas, shared, ptx, *_)] = lowered(call, jnp.asarray(x), jnp.asarray(y), monkeypatch=monkeypatch)
    assert (name, warps, ctas) == ("add", 2, 1) and ".reqntid 64" in ptx
    out = aligned(np.zeros(100, np.float32))
    launch(ptx, 2, [aligned(x), aligned(y), 100, out], shared_bytes=shared)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("capability", [80, 90])
def test_every_configuration_of_an_autotuner(monkeypatch, capability: int) -> None:
    def call(a, b):
        return jt.triton_call(
            a,
            b,
            64,
            kernel=matmul,
            out_shape=jax.ShapeDtypeStruct((64, 64), jnp.float32),
            grid=lambda meta: (64 // meta["BM"], 64 // meta["BN"]),
            N=64,
            compute_capability=capability,
        )

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (64, 64)).astype(np.float16) for _ in range(2))
    made = lowered(call, jnp.asarray(a), jnp.asarray(b), monkeypatch=monkeypatch)
    assert [(name, warps) for name, warps, *_ in made] == [("matmul", 2), ("matmul", 4)]
    for (_, _, _, shared, ptx, *_), tile in zip(made, (32, 64)):
        c = aligned(np.full((64, 64), np.nan, np.float32))
        launch(ptx, (64 // tile, 64 // tile), [aligned(a), aligned(b), 64, c], shared_bytes=shared)
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
