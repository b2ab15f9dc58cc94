"""Words that are taken apart and put together again are the same words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.example_kernels import cases
from tests.gpu_compile.test_examples import build
from tritium.backends.nvidia import stages
from tritium.conversion.ttg_to_llvm import packing, shared_access
from tritium.conversion.ttg_to_llvm.context import FunctionContext
from tritium.conversion.ttg_to_llvm.nvidia.target import NVIDIATarget
from tritium.conversion.ttg_to_llvm.target_info import ModuleContext
from tritium.dialects import arith  # noqa: F401
from tritium.ir import f16, i1, i8


@pytest.fixture
def e() -> FunctionContext:
    return FunctionContext(ModuleContext(NVIDIATarget(80), True, num_warps=4), "@global_smem")


def test_all_elements_of_a_word_in_their_order_are_the_word(e: FunctionContext) -> None:
    low, high, other, last = packing.unpack(e, ["%w", "%v"], f16, 32)
    assert packing.pack(e, [low, high, other, last], f16, 32) == ["%w", "%v"]
    before = len(e.lines)
    assert not {"%w", "%v"} & set(packing.pack(e, [high, low, high, other], f16, 32))
    assert len(e.lines) == before + 6
    bytes_ = packing.unpack(e, ["%u"], i8, 32)
    assert packing.pack(e, bytes_, i8, 32) == ["%u"] and packing.pack(e, bytes_[:2], i8, 16) != ["%u"]
    bits = packing.unpack(e, ["%b"], i1, 32)  # a byte may be no 0 or 1
    assert packing.pack(e, bits, i1, 32) != ["%b"]


def test_so_are_words_of_shared_memory(e: FunctionContext) -> None:
    elements = shared_access._elements(e, "half", 16, ["%w", "%v"], 32)
    assert shared_access._words(e, "half", 16, elements, 32) == ["%w", "%v"]
    assert packing.pack(e, elements, f16, 32) == ["%w", "%v"]
    assert shared_access._words(e, "half", 16, elements[1:3], 32) not in (["%w"], ["%v"])


def test_elements_of_products_stay_the_words_that_were_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[str] = []
    usual = stages.ttg_to_llvm

    def kept(*arguments: object) -> object:
        made = usual(*arguments)  # type: ignore[arg-type]
        lowered.append(made.text)
        return made

    monkeypatch.setattr(stages, "ttg_to_llvm", kept)
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    (case,) = [case for case in cases() if case.name == "matmul-fp16-leaky_relu"]
    build(replace(case, options={"num_stages": 1}), 80)
    loop = max(re.split(r"\n\w+:\n", lowered[0]), key=lambda block: block.count("mma.sync"))
    assert loop.count("ldmatrix") and loop.count("mma.sync") > 8
    assert "x half>" not in loop
