"""The layouts that tensors get first are those that Triton gives them."""

from __future__ import annotations

import re

import pytest

from tests.example_kernels import ExampleKernel, cases, load
from tests.triton_oracle import TritonOracle
from tritium import compile as compile_kernel
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.conversion.convert_triton_to_tritongpu import ConvertOptions, convert_triton_to_tritongpu
from tritium.dialects.ttg_defaults import blocked_for, default_blocked, expanded, joined, split, transposed
from tritium.dialects.ttg_layouts import Blocked
from tritium.dialects.ttg_maps import linear_layout
from tritium.ir import parse_module, print_op, verify


def lines(text: str) -> list[str]:
    """The operations of a program, its layouts spelt out and values without names, in no order."""
    aliases = dict(re.findall(r"^(#\w+) = (#ttg.*)$", text, re.MULTILINE))
    out = []
    for line in text.split("\n"):
        if line.startswith("#"):
            continue
        for _ in range(3):
            line = re.sub(r"#\w+\b(?!\.)", lambda m: aliases.get(m[0], m[0]), line)
        out.append(re.sub(r"%[\w#:]+", "%", line).strip())
    return sorted(out)


def ttir_of(case: ExampleKernel, capability: int) -> str:
    fn = load(case.example).__dict__[case.kernel]
    source = ASTSource(fn, case.signature, case.constants, case.attrs)
    kernel = compile_kernel(source, GPUTarget("cuda", capability, 32), case.options, until="ttir")
    text: str = kernel.asm["ttir"]
    return text


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
@pytest.mark.parametrize(("warps", "ctas"), [(4, 1), (8, 2)])
def test_triton_gives_the_same_layouts(case: ExampleKernel, warps: int, ctas: int, triton_oracle: TritonOracle) -> None:
    text = ttir_of(case, max(case.capability, 90))
    module = parse_module(text)
    convert_triton_to_tritongpu(module, ConvertOptions("cuda:90", warps, 32, ctas))
    verify(module)
    simplify = ["canonicalizer", "cse"]
    ours = triton_oracle.run_passes(print_op(module), simplify)
    theirs = triton_oracle.run_passes(text, [["convert_to_ttgpuir", "cuda:90", warps, 32, ctas], *simplify])
    assert lines(ours) == lines(theirs)


def test_threads_find_work_or_hold_copies() -> None:
    assert str(default_blocked([1024], 4, 32)) == str(Blocked((1,), (32,), (4,), (0,)))
    assert default_blocked([16, 64], 4, 32) is Blocked((1, 1), (1, 32), (2, 2), (1, 0))
    assert default_blocked([2, 2], 4, 32) is Blocked((1, 1), (16, 2), (4, 1), (1, 0))
    assert blocked_for([64, 64], [4, 4], [1, 0], 4, 32) is Blocked((4, 4), (2, 16), (4, 1), (1, 0))
    for shape in ([1], [8, 4], [128, 1], [2, 4, 8], [1, 1, 512]):
        layout = default_blocked(shape, 8, 32, 2)
        assert layout.lanes == 32 and layout.warps == 8 and layout.ctas == 2
        assert linear_layout(layout, tuple(shape)).is_surjective()


def test_layouts_that_follow() -> None:
    layout = Blocked((1, 4), (8, 4), (2, 2), (1, 0))
    assert transposed(transposed(layout, (1, 0)), (1, 0)) is layout
    assert split(joined(layout)) is layout
    assert split(layout) is None
    assert expanded(layout, 1) is Blocked((1, 1, 4), (8, 1, 4), (2, 1, 2), (0, 1, 2))
