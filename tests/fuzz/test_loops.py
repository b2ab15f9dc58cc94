"""Random loops over tiles, loaded by warps of their own, store on an emulated GPU what they store on the CPU.

A few fixed programs run with every test run; TRITIUM_PROGRAMS=500 tries that many from TRITIUM_TEST_SEED on.
"""

import importlib.util
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tritium.backends.errors import OutOfResources, PerformanceWarning
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

sys.path.insert(0, str(Path(__file__).parent))

from loops import ROWS, Loops  # noqa: E402

COUNT = int(os.environ.get("TRITIUM_PROGRAMS") or 0)
SEEDS = range(at := int(os.environ["TRITIUM_TEST_SEED"]), at + COUNT) if COUNT else range(4)
TILES = 3


@pytest.mark.parametrize("seed", SEEDS)
def test_loops_with_warps_that_load(seed, tmp_path):
    loops = Loops(seed)
    text, options = loops.kernel(), loops.options()
    path = tmp_path / "program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"loops_{seed}", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(-2, 3, (ROWS, ROWS)).astype(np.float16) for _ in range(4)]
    x = rng.integers(-2, 3, ROWS).astype(np.float16)
    found = []
    for gpu in (False, True):
        out, sums = np.zeros((ROWS, ROWS), np.float32), np.zeros(8 * loops.m, np.float32)
        if gpu:
            driver.set_active(EmulatedCUDADriver(90))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PerformanceWarning)
                grid = (2 if loops.nested else TILES,)
                chosen = options if gpu else {}
                program.kernel[grid](*arrays, x, out, sums, TILES, loops.m, loops.n, loops.k, **chosen)
        except OutOfResources:
            return
        finally:
            driver.reset_active()
        found.append((out, sums))
    about = f"{options}\n{text}"
    np.testing.assert_array_equal(found[1][0], found[0][0], err_msg=about)
    np.testing.assert_array_equal(found[1][1], found[0][1], err_msg=about)
