"""amd-optimize-epilogue: what Triton's own pass makes of the same texts."""

from __future__ import annotations

from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401
from tests.triton_oracle import TritonOracle
from tritium.ir import Pass, parse_module, print_op, run_pipeline, verify
from tritium.transforms.ttgir.layout.amd_optimize_epilogue import amd_optimize_epilogue

FILETESTS = Path(__file__).parents[2] / "filetests"


@pytest.mark.parametrize("folder", ["shown", "ttgir"])
def test_stores_are_those_of_the_pass_of_triton(folder: str, triton_oracle: TritonOracle) -> None:
    text = (FILETESTS / folder / "amd_optimize_epilogue.mlir").read_text()
    text = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    module = parse_module(text)
    run_pipeline(module, [Pass("amd-optimize-epilogue", amd_optimize_epilogue, "")], verifier=verify)
    after = ["canonicalizer"]  # the order of conversions before a store is not compared
    theirs = triton_oracle.run_passes(text, ["amd.optimize_epilogue", *after])
    ours = triton_oracle.run_passes(print_op(module), after)
    assert sorted(ours.splitlines()) == sorted(theirs.splitlines())
