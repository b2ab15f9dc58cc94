"""A kernel that grows without end is an error that says where, soon; one that is large takes time in proportion.

(triton#8908: 117 to 297 seconds; #10918: 146 times the IR.)
"""

from __future__ import annotations

import time
import tracemalloc

import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.compiler import ASTSource, GPUTarget
from tritium.frontend.errors import CompilationError
from tritium.frontend.visitor.builder import NamingBuilder

TARGETS = [GPUTarget("cpu", "x86-64-v3", 1), GPUTarget("cuda", 90, 32)]


@tritium.jit
def unrolled(x, N: tl.constexpr, M: tl.constexpr):
    for i in tl.static_range(N):
        for j in tl.static_range(M):
            tl.store(x + i * M + j, tl.load(x + i * M + j) + 1)


def source(n: int, m: int) -> ASTSource:
    return ASTSource(unrolled, {"x": "*fp32", "N": "constexpr", "M": "constexpr"}, {"N": n, "M": m})


@pytest.mark.parametrize("target", TARGETS, ids=["cpu", "cuda"])
def test_an_endless_kernel_is_an_error_that_names_its_place(target: GPUTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    made, insert = [], NamingBuilder.insert
    monkeypatch.setattr(NamingBuilder, "insert", lambda builder, op: made.append(op.name) or insert(builder, op))
    with knobs.compilation.scope():
        knobs.compilation.max_operations = 20_000  # a million by default
        with pytest.raises(CompilationError, match="more than 20,000 operations") as error:
            tritium.compile(source(4000, 4000), target)
    assert "tl.store(x + i * M + j" in str(error.value) and "^^" in str(error.value)
    assert len(made) == 20_001  # sixteen million stores are never made, nor looked for


@pytest.mark.parametrize("steps", [1 << 15, 10**9, 10**30])
def test_steps_that_no_memory_holds_are_never_listed(steps: int) -> None:
    """A billion compile-time numbers in a list took all memory before anybody counted them."""
    begin = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(CompilationError, match="more than 16,384 steps is too long") as error:
            tritium.compile(source(steps, 1), TARGETS[0], until="ttir")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "for i in tl.static_range(N):" in str(error.value)
    assert most < 32 << 20 and time.perf_counter() - begin < 30


@tritium.jit
def wide(x, o, N: tl.constexpr, ROUNDS: tl.constexpr):
    at = tl.arange(0, N)
    v = tl.load(x + at)
    for _ in tl.static_range(ROUNDS):
        v = tl.sort(v) + tl.cumsum(v, 0)
    tl.store(o + at, v)


@pytest.mark.parametrize("target", TARGETS, ids=["cpu", "cuda"])
def test_ir_grows_with_the_kernel_and_not_faster(target: GPUTarget) -> None:
    lines = []
    for rounds in (1, 2, 4):
        types = {"x": "*fp32", "o": "*fp32", "N": "constexpr", "ROUNDS": "constexpr"}
        kernel = tritium.compile(ASTSource(wide, types, {"N": 32, "ROUNDS": rounds}), target, until="llir")
        lines.append({stage: len(kernel.asm[stage].splitlines()) for stage in kernel.asm if stage != "source"})
    for stage in lines[0]:
        one, two, four = (n[stage] for n in lines)
        assert four - two <= 2.3 * (two - one) + 50, (stage, one, two, four)
