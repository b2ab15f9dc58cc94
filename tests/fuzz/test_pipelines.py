"""Random pipelines of products are right in the emulator, which tells of every wait, fence and barrier that lacks.

A few fixed ones run with every test run; TRITIUM_PROGRAMS=500 tries that many from TRITIUM_TEST_SEED on.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tritium.runtime import OutOfResources, driver
from tritium.runtime.emulated import EmulatedCUDADriver

sys.path.insert(0, str(Path(__file__).parent))

from pipelines import Case  # noqa: E402

COUNT = int(os.environ.get("TRITIUM_PROGRAMS") or 0)
FIRST = int(os.environ["TRITIUM_TEST_SEED"]) if COUNT else 0


@pytest.fixture(autouse=True)
def gpu():
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (COUNT or 10)))
def test_pipelines(seed: int) -> None:
    case = Case(seed)
    try:
        result, wanted = case.run()
    except OutOfResources:
        return  # too many stages for the shared memory
    np.testing.assert_array_equal(result, wanted, err_msg=str(vars(case)))
