"""What loops ask of LLVM stands in its IR, for CPUs and GPUs."""

from __future__ import annotations

import re

import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.backends.cpu import host_target
from tritium.compiler import ASTSource


@tritium.jit
def loops(out, x, n, WHILE: tl.constexpr, KEPT: tl.constexpr):
    at = tl.arange(0, 64)
    total = tl.zeros((64,), tl.float32)
    if WHILE:
        i = 0
        while tl.condition(i < n, disable_licm=KEPT):
            total += tl.load(x + i * 64 + at)
            i += 1
    else:
        for i in tl.range(0, n, disable_licm=KEPT):
            total += tl.load(x + i * 64 + at)
        for i in tl.range(0, 7, disable_licm=KEPT):
            total += tl.load(x + i * 128 + at)
    tl.store(out + at, total)


@pytest.mark.parametrize("target", [None, GPUTarget("cuda", 90, 32)], ids=["cpu", "cuda"])
@pytest.mark.parametrize("loop", [False, True], ids=["for", "while"])
def test_a_loop_that_stays_says_so_to_llvm(loop: bool, target: GPUTarget | None) -> None:
    signature = {"out": "*fp32", "x": "*fp32", "n": "i32", "WHILE": "constexpr", "KEPT": "constexpr"}
    texts = {}
    for kept in (False, True):
        source = ASTSource(loops, signature, {"WHILE": loop, "KEPT": kept})
        texts[kept] = tritium.compile(source, target=target or host_target()).asm["llir"]
    assert "llvm.licm.disable" not in texts[False]
    assert re.search(r"br .*!llvm\.loop", texts[True]) and '!"llvm.licm.disable"' in texts[True]
