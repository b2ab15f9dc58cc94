"""Random layouts, buffers and operations on them: what reads prints again, and Triton takes and refuses the same."""

from __future__ import annotations

import random

import tritium.dialects.all  # noqa: F401
from tests.dialects.random_layouts import random_text
from tests.dialects.random_operations import random_operation
from tests.triton_oracle import TritonError
from tritium.ir import ParseError, parse_module, print_op
from tritium.ir.verifier import failures


def reprinted(text: str) -> str | None:
    """A module with the attribute, read and printed; None where it is refused."""
    try:
        module = parse_module(text)
    except ParseError as error:
        assert error.diagnostic.line == 1
        return None
    out = print_op(module)
    assert parse_module(out).attributes["x.a"] is module.attributes["x.a"]
    return out


def test_random_layouts_read_and_print(seed):
    rng = random.Random(seed)
    good = [reprinted(f"module attributes {{x.a = {random_text(rng)}}} {{}}") is not None for _ in range(1500)]
    assert 0.4 < sum(good) / len(good) < 0.95


def test_triton_agrees(seed, triton_oracle):
    rng = random.Random(seed)
    for _ in range(120):
        text = f"module attributes {{x.a = {random_text(rng)}}} {{}}"
        try:
            theirs = triton_oracle.read(text).strip()
        except TritonError as error:
            if "crashed" in str(error):  # an assertion, or LLVM's `report_fatal_error`, is no verdict
                continue
            theirs = None
        assert reprinted(text) == theirs, text


def test_triton_agrees_on_layouts_that_go_together(seed, triton_oracle):
    rng = random.Random(seed)
    good = 0
    for _ in range(120):
        text = random_operation(rng)
        try:
            triton_oracle.read(text)
            theirs = ""
        except TritonError as error:
            theirs = str(error)
        if "crashed" in theirs:
            continue
        ours = [f.message for f in failures(parse_module(text))]
        # Triton minds elements that one thread holds several times, which we do not.
        assert bool(ours) == bool(theirs) or (not ours and "[0, 0" in theirs), (
            f"{text}\nours: {ours}\nTriton's: {theirs}"
        )
        good += not ours
    assert 36 < good < 108
