"""A share of the long runs (`long_runs.py` has the whole), and many threads and processes at once."""

from __future__ import annotations

import mmap
import multiprocessing
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.stress.long_runs import NOISE, PER_COMPILE, PER_LAUNCH, compiles, growth, launches
from tritium.compiler import GPUTarget, KernelCache
from tritium.compiler.inventory import items, verify

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    times.device_caches.clear()


@tritium.jit
def times(x, y, n, FACTOR: tl.constexpr, PLUS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * FACTOR + PLUS, mask=i < n)


def test_launches_keep_no_memory() -> None:
    launches(2000)
    assert launches(8000) <= 4000 * PER_LAUNCH + NOISE


@pytest.mark.parametrize(
    "target, until",
    [(GPUTarget("cpu", "", 1), None), (GPUTarget("cuda", 90, 32), "ptx"), (GPUTarget("cuda", 90, 32), "ttgir")],
    ids=["cpu", "cuda", "without LLVM"],
)
def test_compiles_keep_no_memory(target, until, monkeypatch: pytest.MonkeyPatch, all_cases: bool) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    count = 60 if all_cases else 30
    compiles(40 if all_cases else 20, target, until)
    assert compiles(count, target, until) <= count // 2 * PER_COMPILE + NOISE


def test_memory_that_is_kept_is_noticed() -> None:
    kept = []

    def keep(i: int) -> None:
        kept.append(mmap.mmap(-1, 1 << 20))  # fresh pages: what the heap gives may have been there before
        kept[-1].write(bytes(1 << 20))

    assert growth(keep, 40) > NOISE


def launch(factor: int, plus: int) -> bool:
    """One kernel of its own, compiled or found, and whether it computes what it should."""
    x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
    times[(2,)](x, y, 100, factor, plus, 64)
    return np.array_equal(y, x * factor + plus)


def test_many_kernels_from_8_threads(tmp_path: Path, all_cases: bool) -> None:
    """Every thread wants all of them, each beginning elsewhere: the same ones are asked for at once."""
    wanted = [(factor, plus) for factor in range(2, 22 if all_cases else 8) for plus in range(10)]
    wrong, start = [], threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for k in range(len(wanted)):
            pair = wanted[(k + number * 25) % len(wanted)]
            try:
                if not launch(*pair):
                    wrong.append(pair)
            except BaseException as error:
                wrong.append(error)
                raise

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(items(KernelCache().folder)) == len(wanted)
    assert not [problem for _, problem in verify(KernelCache().folder) if problem]


def child(factors: list[int]) -> bool:
    return all(launch(factor, 1) for factor in factors)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_processes_that_begin_in_the_middle(method: str) -> None:
    """Children of a process that has launched launch, compile, and find what their siblings compile."""
    assert launch(2, 1)
    with multiprocessing.get_context(method).Pool(4) as pool:
        jobs = [pool.apply_async(child, ([2, 30 + k % 3, 40],)) for k in range(8)]
        assert all(job.get(timeout=120) for job in jobs)
    assert child([2, 30, 31, 32, 40])
    assert len(items(KernelCache().folder)) == 5
