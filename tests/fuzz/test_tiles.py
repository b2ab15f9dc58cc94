"""Random tile programs store what the same text over NumPy arrays stores: on the CPU, and on an emulated GPU, where
none of them has a race.

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


def seeds(start: int, count: int) -> range:
    """Those of the fixed programs, unless the environment asks for others."""
    return range(at := int(os.environ["TRITIUM_TEST_SEED"]), at + COUNT) if COUNT else range(start, start + count)


def check(seed: int, folder: Path, programs: int, **options: int) -> None:
    """Run the program of a seed `programs` times, as a kernel with these options and over NumPy arrays."""
    text = Tiles(seed).kernel()
    path = folder / "program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{seed}", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    numbers = np.random.default_rng(seed)
    x = (numbers.standard_normal(2048) * 3).astype(np.float32)
    y = numbers.integers(-100, 100, 2048).astype(np.int32)
    room = programs << 16  # elements of an output: each program has its own part
    wanted = np.zeros(room, np.float32), np.zeros(room, np.int32)
    numpy_language.run(program.kernel, programs, x, y, *wanted, 37)
    found = np.zeros(room, np.float32), np.zeros(room, np.int32)
    program.kernel[(programs,)](x, y, *found, 37, **options)
    about = f"{options}\n{text}"
    np.testing.assert_array_equal(found[1], wanted[1], err_msg=about)
    # sums in another order, and loops that repeat them: a wrong element is off by far more
    np.testing.assert_allclose(found[0], wanted[0], rtol=2e-3, atol=1e-2, err_msg=about)


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("seed", seeds(0, 12))
def test_tile_program(seed, tmp_path):
    check(seed, tmp_path, 3)


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("seed", seeds(100, 6))
def test_tile_program_on_an_emulated_gpu(seed, tmp_path, request):
    choose = random.Random(seed)
    capability = choose.choice([80, 90])
    driver.set_active(EmulatedCUDADriver(capability))
    request.addfinalizer(driver.reset_active)
    ctas = choose.choice([1, 1, 2, 4]) if capability == 90 else 1
    check(seed, tmp_path, 2, num_warps=choose.choice([1, 2, 4, 8]), num_ctas=ctas)
