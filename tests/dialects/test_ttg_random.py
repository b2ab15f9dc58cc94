"""Random layouts and buffers: what reads prints again, and Triton says yes and no to the same, in the same words."""

from __future__ import annotations

import random

import tritium.dialects.all  # noqa: F401
from tests.dialects.random_layouts import random_text
from tests.triton_oracle import TritonError
from tritium.ir import ParseError, parse_module, print_op


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
    for _ in range(250):
        text = f"module attributes {{x.a = {random_text(rng)}}} {{}}"
        try:
            theirs = triton_oracle.read(text).strip()
        except TritonError as error:
            if "crashed" in str(error):  # an assertion, or LLVM's `report_fatal_error`, is no verdict
                continue
            theirs = None
        assert reprinted(text) == theirs, text
