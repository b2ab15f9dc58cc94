"""Every text that Triton made of our examples reads, verifies, and prints back byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.read import faults
from tests.example_kernels import cases

FOLDER = Path(__file__).parent / "triton-3.9"
FILES = sorted(FOLDER.glob("*.mlir"))


@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_text(path):
    text = path.read_text()
    found = list(faults(text, path.name))
    assert not found, found[0][1]


def test_every_example_is_there():
    recorded = {p.name.partition(".")[0] for p in FILES}
    assert recorded >= {case.example for case in cases()}
    assert sum(p.stat().st_size for p in FILES) < 1_500_000
    assert not [p.name for p in FILES if "site-packages" in p.read_text()]


def test_faults_are_found():
    text = (FOLDER / "vector_add.add_kernel.sm90.ttir.mlir").read_text()
    kinds = [next(faults(t))[0] for t in (text.replace(" = ", " == ", 1), text.replace("  tt.return", "   tt.return"))]
    assert kinds == ["parse", "print"]
    wrong = text.replace("tt.return", 'ub.poison : i32\n    "tt.return"()', 1)
    assert next(faults(wrong))[0] in ("parse", "verify")
