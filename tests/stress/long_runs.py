"""Long runs in one process, whose memory must stay flat: launches, compiles; and many threads and processes at once.

    python tests/stress/long_runs.py                      100,000 launches, 10,000 compiles for cuda:90 and the CPU
    python tests/stress/long_runs.py --launches 5000 --compiles 300
    python tests/stress/long_runs.py --only ptx           one of launches, ttgir, cpu, ptx: so they run side by side

Memory is what the process has in RAM (`/proc/self/statm`). It may grow at first: pools fill, tables of what is interned.
Counted is what is added between the middle and the end of a run.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget

#: Bytes that may be added between the middle and the end: for each launch and compile (1,488 of which llvmlite 0.50 leaks
#: in each run of LLVM's passes), and for noise of the allocator.
PER_LAUNCH, PER_COMPILE, NOISE = 1, 2000, 3 << 20

#: What is compiled for, and until which stage.
COMPILES: dict[str, tuple[GPUTarget, str | None]] = {
    "ttgir": (GPUTarget("cuda", 90, 32), "ttgir"),
    "cpu": (GPUTarget("cpu", "", 1), None),
    "ptx": (GPUTarget("cuda", 90, 32), "ptx"),
}


@tritium.jit
def saxpy(x, y, n, a, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * a + tl.load(y + i, mask=i < n), mask=i < n)


def resident() -> int:
    """Bytes of this process in RAM."""
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(work: Callable[[int], None], count: int) -> int:
    """Bytes that the second half of `count` calls adds."""
    for i in range(count // 2):
        work(i)
    middle = resident()
    for i in range(count // 2, count):
        work(i)
    return resident() - middle


def launches(count: int) -> int:
    """`count` launches of three kinds, results checked now and then; the bytes added by their second half."""
    x, y = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    expected = np.zeros(256, np.float32)

    def launch(i: int) -> None:
        n = (256, 200, 7)[i % 3]
        saxpy[(2,)](x, y, n, 0.5, 128)
        if i % 1000 < 3:
            y[:] = 0
            saxpy[(2,)](x, y, n, 0.5, 128)
            expected[:] = 0
            expected[:n] = x[:n] * np.float32(0.5)
            assert np.array_equal(y, expected), i

    return growth(launch, count)


def compiles(count: int, target: GPUTarget, until: str | None = None) -> int:
    """`count` compiles of 50 specializations by turns, each made anew; the bytes added by the second half."""
    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "a": "fp32", "B": "constexpr"}
    attrs = {(0,): [["tt.divisibility", 16]]}

    def compile(i: int) -> None:
        source = ASTSource(saxpy, types, {"B": 32 << i % 5}, attrs if i % 2 else {})
        kernel = tritium.compile(source, target, {"num_warps": 1 << i % 4}, until)
        assert "saxpy" in kernel.asm["ttir"]

    return growth(compile, count)


def say(what: str, count: int, added: int, most: int, seconds: float) -> bool:
    verdict = "flat" if added <= most else "GROWS"
    print(
        f"{what:<32}{count:>8}  {seconds:7.1f} s  {added / 1024:>9.0f} KiB more in the second half  {verdict}",
        flush=True,
    )
    return added <= most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--launches", type=int, default=100_000)
    parser.add_argument("--compiles", type=int, default=10_000)
    parser.add_argument("--only", choices=["launches", *COMPILES])
    chosen = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITIUM_CACHE_DIR"] = folder
        if chosen.only in (None, "launches"):
            start = time.perf_counter()
            added = launches(chosen.launches)
            most = chosen.launches // 2 * PER_LAUNCH + NOISE
            good &= say("launches on the CPU", chosen.launches, added, most, time.perf_counter() - start)
        os.environ["TRITIUM_CACHE_DISABLE"] = "1"
        for name, (target, until) in COMPILES.items():
            if chosen.only not in (None, name):
                continue
            start = time.perf_counter()
            added = compiles(chosen.compiles, target, until)
            most = chosen.compiles // 2 * PER_COMPILE + NOISE
            what = f"compiles for {target.backend}{f', to {until}' if until else ''}"
            good &= say(what, chosen.compiles, added, most, time.perf_counter() - start)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
