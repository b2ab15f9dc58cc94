"""No byte is kept for a launch (triton#1358: 32 each), and code goes when its kernel does (triton#9444)."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.stress.long_runs import growth
from tritium import knobs
from tritium.compiler import ASTSource

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


@tritium.jit
def plus(x, n, BY: tl.constexpr):
    at = tl.arange(0, 64)
    tl.store(x + at, tl.load(x + at, mask=at < n) + BY, mask=at < n)


def test_a_launch_keeps_nothing() -> None:
    x = np.zeros(64, np.int32)
    plus[(1,)](x, 64, 1)
    added = growth(lambda i: plus[(1,)](x, 64, 1), 400_000)
    assert added < 200_000 * 8, f"{added / 200_000:.1f} bytes a launch"
    assert (x == 400_001).all()


def executable() -> int:
    """Pages of memory of this process that hold code."""
    gc.collect()
    with open("/proc/self/maps") as maps:
        rows = [line.split() for line in maps]
    spans = [row[0].split("-") for row in rows if "x" in row[1] and len(row) < 6]  # of no file
    return sum(int(high, 16) - int(low, 16) for low, high in spans) // 4096


def test_code_goes_with_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    gone: list[str] = []
    source = {by: ASTSource(plus, {"x": "*i32", "n": "i32", "BY": "constexpr"}, {"BY": by}) for by in range(30)}
    with knobs.runtime.scope():
        knobs.runtime.kernel_unload_hook = lambda module, function, name, group, key: gone.append(key)
        pages = []
        for turn in range(3):
            for by in source:
                kernel = tritium.compile(source[by])
                x = np.zeros(64, np.int32)
                kernel[(1,)](x, 64, by)
                assert (x == by).all()
                del kernel
            pages.append(executable())
    assert len(gone) == 90 and len(set(gone)) == 30
    assert pages[2] - pages[0] < 30, "kept code of 60 kernels would take as many pages"
