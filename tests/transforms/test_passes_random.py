"""Random programs mean the same before and after every pass, and after the whole table; bit for bit, but for NaN."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.oracle.evaluator import run
from tests.oracle.programs import buffers, random_program
from tritium.ir import Pass, run_pipeline, verify
from tritium.transforms.canonicalize import canonicalize
from tritium.transforms.ttir import TTIR_PIPELINE

SEED = int(os.environ.get("TRITIUM_TEST_SEED", "1"))
PROGRAMS = 60


def outcome(module, seed):
    """What the output buffers hold after a launch of two programs."""
    arrays = buffers(seed)
    run(module, 2, [*arrays, 1000 + seed, seed % 2])
    return arrays


def assert_same(a, b, text):
    for x, y in zip(a, b):
        both_nan = np.isnan(x) & np.isnan(y) if x.dtype.kind == "f" else False
        same = (x.view(np.int32) == y.view(np.int32)) | both_nan
        assert same.all(), f"{text}: {np.flatnonzero(~same)}: {x[~same]} became {y[~same]}"


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_every_pass_keeps_the_meaning(seed):
    module = random_program(seed)
    verify(module)
    before = outcome(module, seed)
    source = str(module)
    for p in TTIR_PIPELINE:
        run_pipeline(module, [p], verifier=verify)
        assert_same(before, outcome(module, seed), f"seed {seed}, after {p.name}, of\n{source}\nwhich is now\n{module}")


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_canonicalize_twice_is_canonicalize(seed):
    module = random_program(seed, 40)
    canonicalize(module)
    once = str(module)
    assert not canonicalize(module), f"seed {seed}: it says that it changed something"
    assert str(module) == once


@pytest.mark.parametrize("name", sorted({p.name for p in TTIR_PIPELINE}))
def test_each_pass_by_itself_keeps_the_meaning(name):
    """On programs that no other pass has been over."""
    fn = next(p.fn for p in TTIR_PIPELINE if p.name == name)
    for seed in range(SEED + 1000, SEED + 1010):
        module = random_program(seed)
        before, source = outcome(module, seed), str(module)
        run_pipeline(module, [Pass(name, fn, "")], verifier=verify)
        assert_same(before, outcome(module, seed), f"seed {seed}, after {name}, of\n{source}\nwhich is now\n{module}")
