"""tests/e2e/cpu/test_programs.py on GPUs."""

from pathlib import Path

import numpy as np
import pytest

from tests.e2e.buffers import Buffer, assert_equal
from tests.e2e.cpu.test_programs import *  # noqa: F403
from tests.e2e.cpu.test_programs import GRID
from tests.e2e.kernels import kernel_from

# `num_threads` is an option of the CPU
del test_every_program_runs_once, test_the_cache_keeps_nobodys_number_of_threads  # noqa: F821


@pytest.mark.parametrize("shape", [(7,), (3, 5), (4, 3, 2), (1, 1, 9), (2, 0, 3), (100, 3)], ids=str)
def test_every_program_knows_its_place(shape: tuple[int, ...], tmp_path: Path) -> None:
    full = (*shape, 1, 1)[:3]
    out = Buffer(full, "i32")
    kernel_from(GRID, tmp_path)[shape](out.tensor)
    x, y, z = np.indices(full)
    assert_equal(out, x * 10000 + y * 100 + z + full[0] * 1000000)
