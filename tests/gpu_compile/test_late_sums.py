"""Row sums whose shuffles are an iteration late have the bits of those that are not, and are in the next iteration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl
from tritium.runtime.driver import driver
from tritium.runtime.emulated import EmulatedCUDADriver


@pytest.fixture(autouse=True)
def emulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


@tt.jit
def online(q, k, weights, start, out, sums, n, B: tl.constexpr, SPECIALIZE: tl.constexpr, USED: tl.constexpr):
    """The online softmax of attention, with sums that begin at `start`, and weights, so that p may be anything."""
    i, d = tl.arange(0, 64), tl.arange(0, 64)
    queries = tl.make_tensor_descriptor(q, [64, 64], [64, 1], [64, 64])
    keys = tl.make_tensor_descriptor(k, [n, 64], [64, 1], [B, 64])
    x = queries.load([0, 0])
    top = tl.full((64,), -float("inf"), tl.float32)
    total = tl.load(start + i)
    acc = tl.zeros((64, 64), tl.float32)
    for at in tl.range(0, n, B, warp_specialize=SPECIALIZE):
        y = keys.load([at, 0])
        scores = tl.dot(x, y.T)
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None]) * tl.load(weights + at + tl.arange(0, B))[None, :]
        alpha = tl.exp2(top - new)
        acc = tl.dot(p.to(tl.float16), y, acc * alpha[:, None])
        total = total * alpha + tl.sum(p, 1)
        if USED == "in the iteration":
            acc += total[:, None]
        top = new
    if USED == "after the loop":
        total = total * tl.load(start + i) + 1.0
    tl.store(sums + i, total)
    tl.store(out + i[:, None] * 64 + d[None, :], acc)


def _inputs(rng: np.random.Generator, kind: str, n: int) -> list[np.ndarray]:
    q, k = rng.normal(size=(64, 64)).astype(np.float16), rng.normal(size=(max(n, 64), 64)).astype(np.float16)
    weights, start = np.ones(max(n, 64), np.float32), rng.normal(size=64).astype(np.float32)
    start[:4] = [-0.0, 0.0, 1e-44, -1e-44]
    if kind == "special":
        q[3, 5], q[9, 1], k[7, 2], k[n // 2 :, 3] = np.inf, np.nan, -np.inf, 0
        start[4:8] = [np.inf, -np.inf, np.nan, 1e38]
    elif kind == "signed zeros":
        weights[:] = -0.0
        weights[::9] = 0.0
    elif kind == "signs":
        weights = rng.normal(size=weights.size).astype(np.float32)
    return [q, k, weights, start]


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["random", "special", "signed zeros", "signs"])
@pytest.mark.parametrize(("specialize", "tile", "n"), [(False, 64, 192), (True, 32, 128), (False, 64, 0)])
def test_bits_are_those_of_sums_in_their_iteration(kind: str, specialize: bool, tile: int, n: int, seed: int) -> None:
    found, shuffles = [], []
    for without in ("", "late-sums"):
        inputs = _inputs(np.random.default_rng(seed), kind, n)
        out, sums = np.full((64, 64), 7, np.float32), np.full(64, 7, np.float32)
        made = online[(1,)](*inputs, out, sums, n, B=tile, SPECIALIZE=specialize, USED="", without=without)
        found.append([np.where(np.isnan(v), np.float32(np.nan), v).view(np.uint32) for v in (out, sums)])
        shuffles.append(made.asm["ptx"].count("shfl.sync.bfly"))
    assert (found[0][0] == found[1][0]).all() and (found[0][1] == found[1][1]).all()
    assert shuffles[0] > shuffles[1]  # those after the loop


@pytest.mark.parametrize("used", ["in the iteration", "after the loop"])
def test_a_sum_that_more_is_added_to_is_not_late(used: str, seed: int) -> None:
    texts = []
    for without in ("", "late-sums"):
        inputs = _inputs(np.random.default_rng(seed), "random", 64)
        out, sums = np.zeros((64, 64), np.float32), np.zeros(64, np.float32)
        made = online.warmup(*inputs, out, sums, 64, B=64, SPECIALIZE=False, USED=used, without=without, grid=(1,))
        texts.append(made.asm["ptx"].count("shfl.sync.bfly"))
    assert texts[0] == texts[1]
