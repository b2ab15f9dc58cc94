"""coalesce chooses the same layouts as Triton, for all example kernels."""

from __future__ import annotations

import pytest

from tests.conversion.test_convert_triton_to_tritongpu import lines, ttir_of
from tests.example_kernels import ExampleKernel, cases
from tests.triton_oracle import TritonOracle
from tritium.ir import parse_module, print_op, verify
from tritium.transforms.ttgir.layout.coalesce import coalesce


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
@pytest.mark.parametrize(("capability", "warps", "ctas"), [(80, 4, 1), (90, 8, 2)])
def test_coalesced_layouts_match_triton(
    case: ExampleKernel, capability: int, warps: int, ctas: int, triton_oracle: TritonOracle
) -> None:
    if case.capability > capability:
        pytest.skip(f"needs compute capability {case.capability}")
    simplify = ["canonicalizer", "cse"]
    layouts = ["convert_to_ttgpuir", f"cuda:{capability}", warps, 32, ctas]
    text = triton_oracle.run_passes(ttir_of(case, capability), [layouts, *simplify])
    module = parse_module(text)
    coalesce(module)
    verify(module)
    ours = triton_oracle.run_passes(print_op(module), simplify)
    theirs = triton_oracle.run_passes(text, ["coalesce", *simplify])
    assert lines(ours) == lines(theirs)
