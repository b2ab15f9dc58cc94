"""Random graphs of blocks mean the same before and after the passes that know branches."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.interpreter.graphs import random_graph
from tritium.interpreter.evaluator import run
from tritium.ir import PassManager, parse_module, verify

SEED = int(os.environ.get("TRITIUM_TEST_SEED", "1"))
PIPELINES = [
    "canonicalize",
    "canonicalize{region-simplify=aggressive}",
    "sccp",
    "sccp,canonicalize",
    "cse,dce",
    "licm,loop-aware-cse",
    "structure-returns",
]
ARGUMENTS = [(0, 0, 0), (1, -1, 6), (-5, 3, 9), (2, 2, 4)]


def outcomes(module):
    """What memory holds after a run for each of the arguments."""
    found = []
    for x, y, fuel in ARGUMENTS:
        memory = np.full(4, 77, np.int32)
        run(module, 1, [memory, x, y, fuel])
        found.append(memory.tolist())
    return found


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("seed", range(SEED, SEED + 25))
def test_passes_keep_the_meaning(seed, pipeline):
    module = parse_module(random_graph(seed, 2 + seed % 6))
    verify(module)
    before, source = outcomes(module), str(module)
    PassManager(pipeline, verify_each=True).run(module)
    assert outcomes(module) == before, f"seed {seed}, {pipeline} of\n{source}\nwhich is now\n{module}"


@pytest.mark.parametrize("merge", ["", "{region-simplify=aggressive}"])
@pytest.mark.parametrize("seed", range(SEED, SEED + 25))
def test_canonicalize_twice_is_canonicalize(seed, merge):
    module = parse_module(random_graph(seed, 2 + seed % 6))
    PassManager(f"canonicalize{merge}").run(module)
    once = str(module)
    PassManager(f"canonicalize{merge}").run(module)
    assert str(module) == once
