"""Our passes over what Triton made of the examples: it stays valid, and is not larger than Triton left it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401
import tritium.transforms  # noqa: F401  (its passes are known from here on)
from tritium.ir import parse_module, verify
from tritium.ir.passes import PassManager

FOLDER = Path(__file__).parents[1] / "corpus" / "triton-3.9"
TTIR = "inliner,symbol-dce,canonicalize,combine,reorder-broadcast,loop-aware-cse,licm,loop-unroll,sccp,canonicalize,dce"
TTGIR = "canonicalize,cse,loop-aware-cse,licm,sccp,canonicalize,dce,symbol-dce"


def size(module):
    return sum(1 for _ in module.walk())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.mlir")), ids=lambda p: p.stem)
def test_passes_on_triton_texts(path):
    """`ttir` went through Triton's passes of these names already: there is nothing that ours would have to add."""
    module = parse_module(path.read_text(), path.name)
    before = size(module)
    PassManager(TTIR if path.stem.endswith("ttir") else TTGIR, verify_each=True).run(module)
    verify(module)
    assert size(module) <= before


def test_there_are_texts():
    assert len(list(FOLDER.glob("*.ttir.mlir"))) >= 30
