"""What the hints of the language change on each target: something where they have an effect, nothing where they do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.options.language_kernels import KERNELS
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.frontend.language.parameters import ANNOTATIONS, PARAMETERS
from tritium.support.option_classes import HINT

TARGETS = {"cpu": (GPUTarget("cpu", "", 1), "llir"), "cuda": (GPUTarget("cuda", 90, 32), "ptx")}
HINTS = {name: p for table in (PARAMETERS, ANNOTATIONS) for name, p in table.items() if p.kind == HINT}
ALIGNED = {(i,): [["tt.divisibility", 16]] for i in range(2)}


def text(fn: Any, value: Any, target: GPUTarget, stage: str) -> Any:
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "V": "constexpr"}
    return compile(ASTSource(fn, signature, {"V": value}, ALIGNED), target=target, until=stage).asm[stage]


def test_every_hint_of_the_language_has_a_kernel() -> None:
    assert {name.split()[-1] for name in KERNELS} == set(HINTS)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_a_hint_changes_code_where_it_has_an_effect(name: str, target: str) -> None:
    fn, nothing, something = KERNELS[name]
    changes = text(fn, nothing, *TARGETS[target]) != text(fn, something, *TARGETS[target])
    assert changes == (target not in HINTS[name.split()[-1]].ignored_on)


@pytest.mark.parametrize("capability", [80, 100, 120])
def test_warps_are_specialized_on_hopper_alone(capability: int) -> None:
    fn, nothing, something = KERNELS["warp_specialize"]
    target = GPUTarget("cuda", capability, 32)
    assert text(fn, nothing, target, "llir") == text(fn, something, target, "llir")
