"""The `ttgir` pipelines for AMD GPUs: every operation gets layouts for the warps of the target."""

from __future__ import annotations

from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401
from tritium.backends.amd.pipelines import LOWERING, default_ttgir_pipeline
from tritium.dialects.ttg_context import target_of, threads_per_warp
from tritium.ir import parse_module, run_pipeline, verify

CORPUS = Path(__file__).parents[2] / "corpus" / "triton-3.9"
TEXTS = ("fused_softmax.softmax_kernel", "layer_norm.layer_norm_fwd_fused.forward", "matmul.matmul_kernel.fp32")


@pytest.mark.parametrize(("arch", "threads"), [("gfx942", 64), ("gfx1100", 32)])
@pytest.mark.parametrize("name", TEXTS)
def test_pipeline_gives_layouts_for_the_warp_size(name: str, arch: str, threads: int) -> None:
    module = parse_module((CORPUS / f"{name}.sm90.ttir.mlir").read_text())
    run_pipeline(module, [*default_ttgir_pipeline(arch), *LOWERING], verifier=verify)
    assert threads_per_warp(module) == threads
    assert target_of(module) == f"hip:{arch}"
    assert "ttg.shared" in module.attributes
