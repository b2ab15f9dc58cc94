"""Passes of the `ttgir` stage on Triton's compiles of our examples, for all targets: the IR stays valid, as small."""

from __future__ import annotations

from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401
from tests.filetests.runner import passes
from tritium.ir import parse_module, verify

FOLDER = Path(__file__).parents[2] / "corpus" / "triton-3.9"
NAMES = [
    "assign-cga-layouts",
    "combine-tensor-select-and-if",
    "optimize-cta-locality",
    "optimize-thread-locality",
    "reduce-data-duplication",
    "remove-layout-conversions",
    "reorder-instructions",
]


def conversions(module):
    return sum(op.name == "ttg.convert_layout" for op in module.walk())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ttgir.mlir")), ids=lambda p: p.stem)
def test_triton_ir_stays_valid_and_small(path):
    text, table = path.read_text(), passes()
    for name in NAMES:
        module = parse_module(text, path.name)
        before = conversions(module)
        table[name](module)
        verify(module)
        if name == "remove-layout-conversions":
            assert conversions(module) <= before, "Triton's own pass went over it"
