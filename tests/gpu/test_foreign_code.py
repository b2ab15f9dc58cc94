"""Assembly, functions of NVIDIA's library by their symbols, and registers of the GPU."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.language import core

# each takes the emulator a moment
pytestmark = [pytest.mark.share(1), pytest.mark.nvidia]


@core.builtin
def reciprocal_root(x, _semantic=None):
    """A function of libdevice that is asked for by its symbol."""
    table = {(tl.float32,): ("__nv_rsqrtf", tl.float32), (tl.float64,): ("__nv_rsqrt", tl.float64)}
    return core.extern_elementwise("libdevice", "", [x], table, is_pure=True, _semantic=_semantic)


@tritium.jit
def root(x, y):
    at = tl.arange(0, 32)
    tl.store(y + at, reciprocal_root(tl.load(x + at)))


@pytest.mark.shows("tl.extern_elementwise")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extern_elementwise(dtype, rng):
    x, y = rng.uniform(0.5, 9, 32).astype(dtype), np.zeros(32, dtype)
    root[(1,)](x, y)
    np.testing.assert_allclose(y, 1 / np.sqrt(x), rtol=4 * np.finfo(dtype).eps)


@tritium.jit
def assembly(x, y, z):
    at = tl.arange(0, 32)
    a = tl.load(x + at)
    twice = tl.inline_asm_elementwise("add.s32 $0, $1, $1;", "=r,r", [a], tl.int32, True, 1)
    low, high = tl.inline_asm_elementwise(
        "{ min.s32 $0, $2, $3; max.s32 $1, $2, $3; }", "=r,=r,r,r", [a, twice], (tl.int32, tl.int32), True, 1
    )
    tl.store(y + at, low)
    tl.store(z + at, high)


def test_inline_asm_elementwise(rng):
    x = rng.integers(-100, 100, 32).astype(np.int32)
    y, z = np.zeros((2, 32), np.int32)
    assembly[(1,)](x, y, z)
    np.testing.assert_array_equal(y, np.minimum(x, 2 * x))
    np.testing.assert_array_equal(z, np.maximum(x, 2 * x))


@tritium.jit
def registers(y):
    tl.store(y, tl.extra.cuda.smid().to(tl.int64))
    first = tl.extra.cuda.globaltimer()
    tl.store(y + 1, tl.extra.cuda.globaltimer() - first)


def test_smid_globaltimer():
    y = np.full(2, -1, np.int64)
    registers[(1,)](y)
    assert 0 <= y[0] < 1024 and y[1] >= 0
