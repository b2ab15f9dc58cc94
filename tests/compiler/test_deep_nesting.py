"""Deep nesting compiles, or is an error at the operation that names the limit (never a RecursionError)."""

from __future__ import annotations

import importlib.util
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.frontend.errors import CompilationError
from tritium.frontend.visitor import ast_to_ttir
from tritium.ir import print_op, run_pipeline, verify
from tritium.ir.lexer import ParseError
from tritium.ir.nesting import TooDeepOperation, deepest_operation
from tritium.ir.parser import parse_module
from tritium.ir.passes.definition import Pass
from tritium.support import recursion

TARGETS = [GPUTarget("cpu", "x86-64-v3", 1), GPUTarget("cuda", 90, 32)]
TYPES = {"p": "*i32", "n": "i32"}


def kernel(folder: Path, text: str) -> Any:
    """The kernel `k` of a module with this text."""
    path = folder / "generated.py"
    path.write_text(f"import tritium\nimport tritium.language as tl\n\n{text}")
    spec = importlib.util.spec_from_file_location("generated", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


def elif_chain(folder: Path, length: int) -> Any:
    branches = "".join(f"    elif n == {i}:\n        y = {i * i}\n" for i in range(1, length))
    head = "@tritium.jit\ndef k(p, n):\n    y = 0\n    if n == 0:\n        y = 7\n"
    return kernel(folder, f"{head}{branches}    tl.store(p, y)\n")


def call_chain(folder: Path, length: int) -> Any:
    text = "@tritium.jit\ndef f0(x):\n    return x + 1\n"
    for i in range(1, length):
        text += f"@tritium.jit\ndef f{i}(x):\n    return f{i - 1}(x) + {i}\n"
    return kernel(folder, f"{text}@tritium.jit\ndef k(p, n):\n    tl.store(p, f{length - 1}(n))\n")


def long_sum(folder: Path, terms: int) -> Any:
    return kernel(folder, f"@tritium.jit\ndef k(p, n):\n    tl.store(p, {' + '.join(['n'] * terms)})\n")


def nested_ifs(depth: int) -> str:
    body = "scf.if %c {\n" * depth + "tt.store %p, %z : !tt.ptr<i32>\n" + "}\n" * depth
    head = "tt.func public @k(%p: !tt.ptr<i32>, %c: i1) {\n%z = arith.constant 1 : i32\n"
    return f"module {{\n{head}{body}tt.return\n}}\n}}\n"


PROGRAMS = [(elif_chain, 200, 9), (call_chain, 80, 3 + 1 + sum(range(80))), (long_sum, 900, 2700)]


@pytest.mark.parametrize("make, size, expected", PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_deep_programs_compile_and_run(make: Any, size: int, expected: int, tmp_path: Path) -> None:
    fn = make(tmp_path, size)
    out = np.zeros(1, np.int32)
    fn[(1,)](out, 3)
    assert out[0] == expected
    assert ".entry k" in compile(ASTSource(fn, TYPES, {}), TARGETS[1], until="ptx").asm["ptx"]


def test_deep_program_in_the_interpreter(tmp_path: Path) -> None:
    with tritium.knobs.runtime.scope():
        tritium.knobs.runtime.interpret = True
        fn = elif_chain(tmp_path, 200)
        out = np.zeros(1, np.int32)
        fn[(1,)](out, 150)
    assert out[0] == 150 * 150


def test_too_deep_program_names_the_limit_and_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fn = call_chain(tmp_path, 200)
    monkeypatch.setattr(recursion, "_stack_bytes", lambda: 1 << 20)
    with pytest.raises(recursion.NestedTooDeeply, match=r"nested too deeply for .* [\d,]+ frames") as error:
        compile(ASTSource(fn, TYPES, {}), TARGETS[0])
    assert "generated.py:" in str(error.value) and "def k(p, n):" in str(error.value)
    with pytest.raises(CompilationError, match=r"nested too deeply for the frontend: .* [\d,]+ frames") as error:
        ast_to_ttir(long_sum(tmp_path, 900), TYPES, {})
    assert "generated.py:" in str(error.value)


def test_recursion_with_changing_constants_is_diagnosed(tmp_path: Path) -> None:
    text = "@tritium.jit\ndef f(n):\n    return g(n - 1)\n@tritium.jit\ndef g(n):\n    return f(n - 1)\n"
    fn = kernel(tmp_path, f"{text}@tritium.jit\ndef k(p, n):\n    tl.store(p, f(5))\n")
    with pytest.raises(CompilationError, match="recursion is not supported: [fg] calls itself"):
        compile(ASTSource(fn, TYPES, {}), TARGETS[0])


def test_deep_regions_are_read_verified_printed_and_compiled(tmp_path: Path) -> None:
    text = nested_ifs(600)
    module = parse_module(text)
    verify(module)
    assert deepest_operation(module)[1] == 602
    printed = print_op(module)
    assert print_op(parse_module(printed)) == printed
    path = tmp_path / "deep.ttir"
    path.write_text(text)
    for target in TARGETS:
        compile(path, target, until="llir")


def test_endless_nesting_in_text_is_an_error_at_its_line() -> None:
    with pytest.raises(ParseError, match=r"text>:\d+:1: error: nested too deeply for the parser"):
        parse_module(nested_ifs(30_000))


def test_pass_that_reaches_the_limit_shows_the_deepest_operation() -> None:
    module = parse_module(nested_ifs(50), "deep.mlir", text_locations=True)

    def endless(op: Any) -> None:
        endless(op)

    with pytest.raises(TooDeepOperation, match=r"in 52 nested regions, nested too deeply for pass endless") as error:
        run_pipeline(module, [Pass("endless", endless)])
    assert "deep.mlir:54:1" in str(error.value)


def test_recursion_limit_is_restored_and_follows_the_stack_of_the_thread() -> None:
    before, seen = sys.getrecursionlimit(), []

    def inside() -> None:
        with recursion.deep_recursion(), recursion.deep_recursion():
            seen.append(sys.getrecursionlimit())

    old = threading.stack_size(4 << 20)
    try:
        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)
    assert seen == [max(before, 4096 - 500)] and sys.getrecursionlimit() == before
