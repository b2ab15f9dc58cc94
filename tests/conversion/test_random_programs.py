"""Random tile programs on the CPU give what the evaluator gives, bit for bit but for NaN."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.conversion.kernels import Kernel
from tests.interpreter.programs import buffers, random_program
from tritium.interpreter.evaluator import run
from tritium.ir import run_pipeline, verify
from tritium.transforms.ttir import TTIR_PIPELINE

SEED = int(os.environ.get("TRITIUM_TEST_SEED", "1"))


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("seed", range(SEED, SEED + 25))
def test_compiled_program_is_the_evaluated_one(seed, optimized):
    module = random_program(seed, 40)
    source = str(module)
    expected, found = buffers(seed), buffers(seed)
    run(module, 2, [*expected, 1000 + seed % 1000, seed % 2])
    if optimized:
        run_pipeline(module, TTIR_PIPELINE, verifier=verify)
    Kernel(str(module))((2,), *found, 1000 + seed % 1000, seed % 2)
    for a, b in zip(expected, found):
        both_nan = np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else False
        same = (a.view(np.int32) == b.view(np.int32)) | both_nan
        assert same.all(), f"seed {seed}: at {np.flatnonzero(~same)} {b[~same]} for {a[~same]}, program\n{source}"
