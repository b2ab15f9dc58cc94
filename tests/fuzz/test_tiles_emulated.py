"""Random tile programs on an emulated GPU store what the same text over NumPy arrays stores, without a race.

A few fixed programs run with every test run; TRITIUM_PROGRAMS=500 tries that many from TRITIUM_TEST_SEED on.
"""

import importlib.util
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

sys.path.insert(0, str(Path(__file__).parent))

import numpy_language  # noqa: E402
from tiles import Tiles  # noqa: E402

COUNT = int(os.environ.get("TRITIUM_PROGRAMS") or 0)
START = int(os.environ["TRITIUM_TEST_SEED"]) if COUNT else 100
PROGRAMS = 2
ROOM = PROGRAMS << 16  # elements of an output: each program has its own part


@pytest.mark.parametrize("seed", range(START, START + (COUNT or 6)))
def test_tile_program(seed, tmp_path, request):
    text = Tiles(seed).kernel()
    path = tmp_path / "program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"emulated_tile_program_{seed}", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    numbers = np.random.default_rng(seed)
    x = (numbers.standard_normal(2048) * 3).astype(np.float32)
    y = numbers.integers(-100, 100, 2048).astype(np.int32)
    wanted = np.zeros(ROOM, np.float32), np.zeros(ROOM, np.int32)
    numpy_language.run(program.kernel, PROGRAMS, x, y, *wanted, 37)
    found = np.zeros(ROOM, np.float32), np.zeros(ROOM, np.int32)
    choose = random.Random(seed)
    driver.set_active(EmulatedCUDADriver(choose.choice([80, 90])))
    request.addfinalizer(driver.reset_active)
    warps = choose.choice([1, 2, 4, 8])
    program.kernel[(PROGRAMS,)](x, y, *found, 37, num_warps=warps)
    np.testing.assert_array_equal(found[1], wanted[1], err_msg=f"{warps} warps:\n{text}")
    # sums in another order, and loops that repeat them: a wrong element is off by far more
    np.testing.assert_allclose(found[0], wanted[0], rtol=2e-3, atol=1e-2, err_msg=f"{warps} warps:\n{text}")
