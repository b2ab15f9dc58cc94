"""Triton compiles our `ttir` of every example kernel, and makes of it what it makes of the kernel itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.tutorials import without_debug
from tests.example_kernels import ExampleKernel, cases, load, triton_text
from tests.triton_oracle import TritonOracle
from tritium.compiler import ASTSource, GPUTarget, compile

TARGETS = (80, 90, 100)
SLOW = pytest.mark.slow


def pairs() -> list[Any]:
    """Every kernel for one of its targets, in turn; for the others in long runs."""
    found = []
    for i, case in enumerate(cases()):
        fit = [t for t in TARGETS if t >= case.capability]
        for n, target in enumerate(fit):
            marks = () if n == i % len(fit) else (SLOW,)
            found.append(pytest.param(case, target, id=f"{case.name}-{target}", marks=marks))
    return found


# Descriptors that no hardware reads become pointers and masks in our own way: registers of ours, and of Triton's.
REGISTERS = {
    ("attention-forward-causal", 80): (136, 135),
    ("persistent_matmul-descriptors", 80): (255, 214),
}
# The arguments of a call are evaluated in Python's order, positional ones first; Triton begins with keywords.
OTHER_ORDER = ("layer_norm-forward", "layer_norm-backward_dwdb", "attention-", "persistent_matmul-pointers")


def ours(case: ExampleKernel, capability: int) -> str:
    source = ASTSource(getattr(load(case.example), case.kernel), case.signature, case.constants, case.attrs)
    kernel = compile(source, target=GPUTarget("cuda", capability, 32), options=case.options, until="ttir")
    return kernel.asm["ttir"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(("case", "capability"), pairs())
def test_machine_code(case: ExampleKernel, capability: int, triton_oracle: TritonOracle, tmp_path: Path) -> None:
    text = ours(case, capability)
    path = tmp_path / f"{case.example}.py"
    path.write_text(triton_text(case.example))
    target = f"cuda:{capability}"
    found = triton_oracle.compile_text(text, target, **case.options)
    resources = triton_oracle.resources
    expected = triton_oracle.compile_kernel(
        path, case.kernel, case.signature, case.constants, target, case.divisible, **case.options
    )
    ours_and_theirs = {key: (resources[key], value) for key, value in triton_oracle.resources.items()}
    known = REGISTERS.get((case.name, capability))
    assert {k: v for k, v in ours_and_theirs.items() if v[0] != v[1]} == ({"registers": known} if known else {})
    same = without_debug(found["ptx"]) == without_debug(expected["ptx"])
    assert same or known or case.name.startswith(OTHER_ORDER)
