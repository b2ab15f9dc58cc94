"""The texts in examples/, of which the pages of docs/dialects show one line an operation.

A file holds every operation of the dialect it is named after. It reads, verifies, and is printed as it reads; where
Triton is installed, it reads what we print and prints the same.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401  (whatever the texts name)
from tritium.ir import OPS, parse_module, print_op, verify

FILES = sorted((Path(__file__).parent / "examples").glob("*.mlir"))
PROGRAMS = [
    pytest.param(text, id=f"{path.stem}{i}")
    for path in FILES
    for i, text in enumerate(re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE))
]
OURS_ALONE = re.compile(r"\bttc\.|^// Older|\btt\.make_tensor_ptr\b", re.MULTILINE)  # not Triton's, or no more


@pytest.mark.parametrize("text", PROGRAMS)
def test_round_trip(text):
    module = parse_module(text)
    verify(module)
    generic = print_op(module, generic=True)
    for again in (print_op(module), generic, print_op(module, locations=True)):
        copy = parse_module(again)
        verify(copy)
        assert print_op(copy, generic=True) == generic


@pytest.mark.parametrize("text", PROGRAMS)
def test_triton_reads_it_and_prints_the_same(text, triton_oracle):
    if OURS_ALONE.search(text):
        pytest.skip("Triton does not have this")
    module = parse_module(text)
    for op in module.walk():  # without a name of its own a value is called what MLIR calls it
        for value in [*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)]:
            value.hint = None
    ours = print_op(module)
    theirs = triton_oracle.read(ours)
    assert print_op(parse_module(theirs)) == ours
    assert theirs.strip() == ours.strip()


@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_a_file_holds_every_operation_of_its_dialect(path):
    named = set()
    for text in re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE):
        named |= {op.name for op in parse_module(text).walk()}
    missing = {n for n in OPS if n.startswith(f"{path.stem}.") and OPS[n].__module__.startswith("tritium.")} - named
    assert not missing
