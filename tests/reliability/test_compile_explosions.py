"""A kernel that grows without end is an error that says where, soon; one that is large takes time in proportion.

(triton#8908: 117 to 297 seconds; #10918: 146 times the IR.)
"""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.compiler import ASTSource, GPUTarget
from tritium.frontend.errors import CompilationError
from tritium.frontend.visitor.builder import NamingBuilder
from tritium.ir import VerificationError, functions_of
from tritium.ir.parser import parse_module
from tritium.support import TooManyElements, TooManyOperations
from tritium.transforms.inliner import inline

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
        with pytest.raises(CompilationError, match="more than 16,384 iterations is too long") as error:
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


@tritium.jit
def weighted_sum(x, o, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(o, tl.sum(tl.load(x + at) * at))


def weighted(n: int) -> ASTSource:
    return ASTSource(weighted_sum, {"x": "*i32", "o": "*i32", "N": "constexpr"}, {"N": n})


def test_operations_on_thousands_of_elements_per_thread_are_an_error_soon() -> None:
    begin = time.perf_counter()
    with pytest.raises(TooManyElements, match=r"\w+\.\w+ has 8,192 elements per thread") as error:
        tritium.compile(weighted(1 << 20), TARGETS[1])
    assert "tl.sum(tl.load(x + at) * at)" in str(error.value) and "^" in str(error.value)
    assert time.perf_counter() - begin < 10  # 0.4 s on an idle core; 87 s without the limit


def test_large_tensors_compile_where_they_take_few_instructions() -> None:
    assert tritium.compile(weighted(1 << 20), TARGETS[0]).asm["obj"]  # a loop over vectors
    with knobs.compilation.scope():
        knobs.compilation.max_operations = 0
        tritium.compile(weighted(1 << 14), TARGETS[1], until="llir")


@pytest.mark.parametrize("target", TARGETS, ids=["cpu", "cuda"])
def test_tensors_larger_than_any_kernel_has_are_rejected_in_text(target: GPUTarget, tmp_path: Path) -> None:
    path = tmp_path / "huge.ttir"
    path.write_text(HUGE)
    begin = time.perf_counter()
    with pytest.raises(VerificationError, match=r"1,073,741,824 elements, more than 1,048,576") as error:
        tritium.compile(path, target)
    assert "huge.ttir:3:1" in str(error.value) and time.perf_counter() - begin < 10


HUGE = """module {
tt.func public @k(%p: !tt.ptr<i32>) {
%a = tt.make_range {end = 1073741824 : i32, start = 0 : i32} : tensor<1073741824xi32>
tt.return
}
}
"""


def doubling_calls(functions: int) -> str:
    text = "tt.func private @f0(%x: i32) -> i32 {\n%0 = arith.addi %x, %x : i32\ntt.return %0 : i32\n}\n"
    for i in range(1, functions):
        call = f"tt.call @f{i - 1}"
        text += f"tt.func private @f{i}(%x: i32) -> i32 {{\n%0 = {call}(%x) : (i32) -> i32\n"
        text += f"%1 = {call}(%0) : (i32) -> i32\ntt.return %1 : i32\n}}\n"
    kernel = f"%0 = tt.call @f{functions - 1}(%n) : (i32) -> i32\ntt.store %p, %0 : !tt.ptr<i32>\ntt.return\n"
    return f"module {{\n{text}tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {{\n{kernel}}}\n}}\n"


def test_inlining_that_doubles_is_an_error_that_names_the_call() -> None:
    module = parse_module(doubling_calls(28), "calls.mlir", text_locations=True)
    begin = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(TooManyOperations, match=r"inlining @f\d+ into @f\d+, more than 1,000,000") as error:
            inline(module)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "calls.mlir:" in str(error.value)
    assert most < 32 << 20 and time.perf_counter() - begin < 10  # 2**27 operations are never made


def test_inlining_below_the_limit_is_complete() -> None:
    module = parse_module(doubling_calls(8))
    inline(module)
    kernel = next(f for f in functions_of(module) if f.sym_name == "k")
    assert sum(op.name == "arith.addi" for op in kernel.walk()) == 2**7
