"""Triton's own MLIR reads our `ttir`, prints it back as it was, and compiles it to machine code."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SEED
from tests.corpus.read import difference
from tests.example_kernels import ExampleKernel, cases, load
from tests.interpreter.programs import random_program
from tests.ir.random_ir import RandomIR
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.ir import Operation, parse_module, print_op

#: What is no Triton: the CPU's own dialect, block pointers, signs that only older texts have.
OURS_ALONE = re.compile(r"\bttc\.|\btt\.(make_tensor_ptr|advance)\b|!tt\.ptr<tensor")


def ttir_of(case: ExampleKernel, capability: int) -> str:
    fn = getattr(load(case.example), case.kernel)
    source = ASTSource(fn, case.signature, case.constants, case.attrs)
    return compile(source, target=GPUTarget("cuda", capability, 32), options=case.options, until="ttir").asm["ttir"]


def without_names(module: Operation) -> Operation:
    """The module, its values numbered: names stand in no text for Triton, it gives them by locations of its own."""
    for op in module.walk():
        for value in [*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)]:
            value.hint = None
    return module


def comes_back(module: Operation, oracle: Any) -> None:
    """Triton reads the module in either form, and prints what we print."""
    without_names(module)
    text = print_op(module) + "\n"
    theirs = oracle.read(text)
    assert theirs == text, difference(text, theirs)
    theirs = oracle.read(print_op(module, generic=True))
    assert theirs == text, difference(text, theirs)


def pairs() -> list[tuple[ExampleKernel, int]]:
    """Each example with the first GPU it is for, from sm90 on, and the first of each file with sm80."""
    first = {case.example: case for case in reversed(cases())}
    older = [(case, 80) for case in first.values() if case.capability == 80]
    return [(case, max(90, case.capability)) for case in cases()] + older


@pytest.mark.parametrize("case, capability", pairs(), ids=lambda x: getattr(x, "name", x))
def test_an_example_becomes_a_cubin(case, capability, triton_oracle):
    text = ttir_of(case, capability)
    theirs = triton_oracle.read(text, locations=True)
    ours, theirs = (print_op(without_names(parse_module(t)), locations=True) for t in (text, theirs))
    assert theirs == ours, difference(ours, theirs)
    stages = triton_oracle.compile_text(text, f"cuda:{capability}", **case.options)
    assert f".visible .entry {case.kernel}(" in stages["ptx"]
    assert f".target sm_{capability}" in stages["ptx"]
    assert int(stages["cubin"].split()[0]) > 1000


def texts_of(path: Path) -> list[str]:
    """The program of a file test, and the output it says."""
    program, _, output = path.read_text().partition("// OUTPUT\n")
    return [program] + ([re.sub("^// ?", "", output, flags=re.MULTILINE)] if output else [])


FOLDER = Path(__file__).parents[1] / "filetests"
FILE_TESTS = [p for p in sorted(FOLDER.rglob("*.mlir")) if "// error:" not in p.read_text()]


@pytest.mark.parametrize("path", FILE_TESTS, ids=[str(p.relative_to(FOLDER)) for p in FILE_TESTS])
def test_programs_of_file_tests(path, triton_oracle):
    if OURS_ALONE.search(path.read_text()):
        pytest.skip("Triton does not have this")
    for text in texts_of(path):
        comes_back(parse_module(text), triton_oracle)


@pytest.mark.parametrize("number", range(30))
def test_random_tile_programs(number, triton_oracle):
    comes_back(random_program(random.Random(f"{SEED} {number}").randrange(2**31)), triton_oracle)


@pytest.mark.parametrize("number", range(30))
def test_random_modules(number, triton_oracle):
    comes_back(RandomIR(random.Random(f"{SEED} {number}").randrange(2**31), foreign=False).module(), triton_oracle)
