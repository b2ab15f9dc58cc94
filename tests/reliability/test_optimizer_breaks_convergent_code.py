"""LLVM's optimizer leaves barriers and shuffles where they are (triton#11153): compiled is what is interpreted."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.reliability.emulated import gpu
from tritium.tools.request import parse_target


@tritium.jit
def sums_in_branches(x, o, n, B: tl.constexpr):
    """Sums over warps stand in a branch, in a loop, and both sides of a choice have one: LLVM would like to merge them."""
    at = tl.arange(0, B)
    values = tl.load(x + at)
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            total += tl.sum(values * i)
        else:
            total -= tl.sum(values + i)
        if tl.max(values) > i:
            values = tl.flip(values)
    tl.store(o + at, values + total)


@pytest.mark.parametrize("capability", [80, 90])
def test_exchanges_between_threads_in_branches(capability: int) -> None:
    x = np.random.default_rng(5).integers(0, 9, 256).astype(np.float32)
    report = tritium.check(
        sums_in_branches, x, np.zeros_like(x), 5, B=256, grid=1, target=parse_target(f"cuda:{capability}")
    )
    assert report, str(report.finding)
    assert report.verdicts[-1].verdict == "same", "whole numbers are added exactly in any order"


def test_what_threads_do_together_is_marked() -> None:
    """LLVM keeps from moving what is convergent; and is told of the machine, whose text says that it was."""
    with gpu():
        x = np.zeros(256, np.float32)
        kernel = sums_in_branches[(1,)](x, np.zeros_like(x), 3, B=256)
    llir = kernel.asm["llir"]
    assert 'target triple = "nvptx64' in llir and "target datalayout" in llir
    called = set(re.findall(r"call [^@\n]*@(llvm\.nvvm\.(?:barrier|shfl)[\w.]*)\(", llir))
    assert len(called) >= 2
    for name in called:
        group = re.search(rf"declare [^\n]*@{re.escape(name)}\([^\n]*\) #(\d+)", llir)[1]
        assert "convergent" in re.search(rf"attributes #{group} = {{([^}}]*)}}", llir)[1], name
