"""Pipelined loops with a bound on their trip count compute what the same loops without copies ahead do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver


@pytest.fixture(params=[80, 90])
def emulated(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active(EmulatedCUDADriver(request.param))
    yield
    driver.reset_active()


@tt.jit
def whole_and_rest(a, b, out, n, BLOCK: tl.constexpr, STEP: tl.constexpr, STAGES: tl.constexpr):
    """Rows of products with all whole blocks of K, then with the rest, in a loop of at most BLOCK / STEP iterations."""
    rows = tl.arange(0, 32)
    acc = tl.zeros((32, 32), tl.float32)
    full = n // BLOCK * BLOCK
    for k in tl.range(0, full, BLOCK, num_stages=2):
        ks = k + tl.arange(0, BLOCK)
        acc = tl.dot(tl.load(a + rows[:, None] * n + ks[None, :]), tl.load(b + ks[:, None] * 32 + rows[None, :]), acc)
    for k in tl.range(full, n, STEP, num_stages=STAGES):
        ks = k + tl.arange(0, STEP)
        x = tl.load(a + rows[:, None] * n + ks[None, :], mask=ks[None, :] < n, other=0.0)
        y = tl.load(b + ks[:, None] * 32 + rows[None, :], mask=ks[:, None] < n, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(out + rows[:, None] * 32 + rows[None, :], acc)


@pytest.mark.parametrize(("step", "stages"), [(64, 3), (32, 2), (32, 3), (16, 6)])
def test_loops_of_few_iterations(emulated: None, seed: int, step: int, stages: int) -> None:
    random = np.random.default_rng(seed)
    for n in (128, 64 + 16, 48, 64 + 56):
        a, b = (random.standard_normal(s).astype(np.float16) for s in ((32, n), (n, 32)))
        out = np.zeros((32, 32), np.float32)
        whole_and_rest[(1,)](a, b, out, n, BLOCK=64, STEP=step, STAGES=stages, num_warps=2)
        np.testing.assert_allclose(out, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-3)


@tt.jit
def by_descriptors(a, b, out, n, BLOCK: tl.constexpr, STEP: tl.constexpr, STAGES: tl.constexpr):
    """The same by descriptors, with tiles that WGMMAs multiply."""
    x = tl.make_tensor_descriptor(a, [64, n], [n, 1], [64, STEP])
    y = tl.make_tensor_descriptor(b, [n, 64], [64, 1], [STEP, 64])
    rows = tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    full = n // BLOCK * BLOCK
    for k in tl.range(0, full, STEP, num_stages=2):
        acc = tl.dot(x.load([0, k]), y.load([k, 0]), acc)
    for k in tl.range(full, n, STEP, num_stages=STAGES):
        acc = tl.dot(x.load([0, k]), y.load([k, 0]), acc)
    tl.store(out + rows[:, None] * 64 + rows[None, :], acc)


@pytest.mark.parametrize("emulated", [90], indirect=True)
@pytest.mark.parametrize(("step", "stages"), [(64, 3), (32, 2), (32, 4)])
def test_descriptors_in_loops_of_few_iterations(emulated: None, seed: int, step: int, stages: int) -> None:
    random = np.random.default_rng(seed)
    for n in (128, 64 + 40, 24):
        a, b = (random.standard_normal(s).astype(np.float16) for s in ((64, n), (n, 64)))
        out = np.zeros((64, 64), np.float32)
        by_descriptors[(1,)](a, b, out, n, BLOCK=64, STEP=step, STAGES=stages, num_warps=4)
        np.testing.assert_allclose(out, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-3)
