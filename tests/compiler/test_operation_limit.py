"""Kernels that grow: what the compiler does is linear in their operations, and there is a limit, told with the place.

Work is counted in lines of Python that are run, which neighbours on the machine do not change, from the kernel's source
to the text for LLVM (whose own work is not ours to count).
"""

from __future__ import annotations

import sys
from collections import Counter

import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.backends.compiler import GPUTarget
from tritium.backends.nvidia import codegen
from tritium.compiler import ASTSource
from tritium.compiler.operation_limit import check_size
from tritium.frontend.errors import CompilationError
from tritium.ir.parser import parse_module
from tritium.support import TooManyOperations


@tritium.jit
def chain(x, out, n, N: tl.constexpr):
    offs = tl.arange(0, 128)
    v = tl.load(x + offs)
    for i in tl.static_range(N):
        v = v * 1.5 + (i * 0.25)
    tl.store(out + offs, v)


@tritium.jit
def memory(x, out, n, N: tl.constexpr):
    offs = tl.arange(0, 128)
    for i in tl.static_range(N):
        v = tl.load(x + i * 128 + offs, mask=offs < n - i)
        tl.store(out + i * 128 + offs, v + 1.0, mask=offs < n - i)


@tritium.jit
def branches(x, out, n, N: tl.constexpr):
    s = n
    for i in tl.static_range(N):
        if s > i:
            s = s * 3 + i
    tl.store(out, s.to(tl.float32))


@tritium.jit
def reductions(x, out, n, N: tl.constexpr):
    offs = tl.arange(0, 128)
    for i in tl.static_range(N):
        tl.store(out + i, tl.sum(tl.load(x + i * 128 + offs), 0))


@tritium.jit
def products(x, out, n, N: tl.constexpr):
    tile = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.load(x + tile).to(tl.float16)
    acc = tl.zeros((16, 16), tl.float32)
    for i in tl.static_range(N):
        acc = tl.dot(a, (a + i).to(tl.float16), acc) * 0.5
    tl.store(out + tile, acc)


KERNELS = [chain, memory, branches, reductions, products]


class _Lowered(Exception):
    """The text for LLVM is there, and more is not wanted."""


def lower(fn, n):
    """Take a kernel through everything of ours."""
    types = {"x": "*fp32", "out": "*fp32", "n": "i32", "N": "constexpr"}
    divisible = {(i,): [["tt.divisibility", 16]] for i in (0, 1)}
    source = ASTSource(fn, types, constexprs={"N": n}, attrs=divisible)
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        tritium.compile(source, target=GPUTarget("cuda", 90, 32), until="llir")


def lines_of(fn, n):
    """Lines of the package that are run meanwhile, by file."""
    seen = Counter()

    def local(frame, event, argument):
        if event == "line":
            seen[frame.f_code.co_filename] += 1
        return local

    def enter(frame, event, argument):
        return local if "/tritium/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        with pytest.raises(_Lowered):
            lower(fn, n)
    finally:
        sys.settrace(before)
    return seen


@pytest.mark.sample(2, "fn")
@pytest.mark.parametrize("fn", KERNELS, ids=lambda fn: fn.__name__)
def test_work_is_linear_in_operations(fn, monkeypatch):
    def stop(*arguments):
        raise _Lowered

    monkeypatch.setattr(codegen, "optimized_module", stop)
    with pytest.raises(_Lowered):
        lower(fn, 3)  # imports, and what is kept from one compile to the next
    few, more, many = (lines_of(fn, n) for n in (10, 20, 40))
    first, second = sum((more - few).values()), sum((many - more).values())
    worst = sorted(many, key=lambda f: many[f] - 3 * more[f] + 2 * few[f])[-1]
    assert second <= 2 * 1.1 * first, f"10 -> 20: {first} lines, 20 -> 40: {second}; most of what is too much: {worst}"


@pytest.fixture
def at_most(monkeypatch):
    """Sets the limit for a test."""

    def limit(count):
        monkeypatch.setattr(knobs.compilation, "max_operations", count)

    with knobs.compilation.scope():
        yield limit


def test_operation_limit_names_the_unrolled_line(at_most):
    at_most(500)
    with pytest.raises(CompilationError) as error:
        lower(memory, 10_000)  # without the limit: a quarter of a million operations
    assert "the kernel has more than 500 operations" in str(error.value)
    assert (
        "test_operation_limit.py" in str(error.value)
        and "^" in str(error.value)
        and "max_operations" in str(error.value)
    )


def test_a_stage_that_has_grown_names_the_operation(at_most):
    module = tritium.compile(
        ASTSource(chain, {"x": "*fp32", "out": "*fp32", "n": "i32", "N": "constexpr"}, constexprs={"N": 20}),
        target=GPUTarget("cuda", 90, 32),
        until="ttir",
    )
    parsed = parse_module(module.asm["ttir"], "kernel.ttir")
    check_size("ttgir", parsed)
    at_most(30)
    with pytest.raises(TooManyOperations) as error:
        check_size("ttgir", parsed)
    message = str(error.value)
    assert "error: arith." in message and " stands 20 times for this line; " in message
    assert "ttgir has " in message and "more than 30" in message and "v = v * 1.5 + (i * 0.25)" in message
    at_most(0)
    check_size("ttgir", parsed)


def test_the_lowering_names_the_operation_that_is_too_wide(at_most):
    @tritium.jit
    def wide(x, out, n, N: tl.constexpr):
        offs = tl.arange(0, N)
        tl.store(out + offs, tl.exp(tl.load(x + offs)))

    at_most(5000)
    with pytest.raises(TooManyOperations) as error:
        lower(wide, 1 << 19)
    assert "instructions a thread, with which the kernel has more than 5,000" in str(error.value)
    assert "test_operation_limit.py" in str(error.value) and "tl.load(x + offs)" in str(error.value)
