"""Passes on layouts preserve the results of programs, bit for bit, and do not add conversions."""

from __future__ import annotations

import pytest

from tests.filetests.runner import passes
from tests.transforms.test_passes_random import SEED, assert_same, outcome
from tests.transforms.ttgir.shaken import shaken_program
from tritium.ir import Pass, run_pipeline, verify

PROGRAMS = 40
NAMES = [
    "combine-tensor-select-and-if",
    "reduce-data-duplication",
    "remove-layout-conversions",
    "reorder-instructions",
]
FEWER = ("remove-layout-conversions",)


def conversions(module):
    return sum(op.name == "ttg.convert_layout" for op in module.walk())


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_each_pass_keeps_the_meaning(seed):
    table = passes()
    for name in NAMES:
        module = shaken_program(seed)
        before, source, n = outcome(module, seed), str(module), conversions(module)
        run_pipeline(module, [Pass(name, table[name], "")], verifier=verify)
        assert_same(before, outcome(module, seed), f"seed {seed}, after {name}, of\n{source}\nwhich is now\n{module}")
        if name in FEWER:
            assert conversions(module) <= n, f"seed {seed}: {source}\nhas more conversions as\n{module}"


def test_random_programs_have_conversions():
    counts = [conversions(shaken_program(seed)) for seed in range(SEED, SEED + 10)]
    assert min(counts) > 5, counts
