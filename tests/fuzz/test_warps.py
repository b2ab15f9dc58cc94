"""Random kernels with specialized warps compute in the emulator what NumPy does, without races and deadlocks.

A few fixed programs run with every test run; TRITIUM_PROGRAMS=500 tries that many from TRITIUM_TEST_SEED on.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from warps import Program  # noqa: E402

from tests.conversion.ttg_to_llvm.harness import from_ttgir  # noqa: E402

COUNT = int(os.environ.get("TRITIUM_PROGRAMS") or 0)
FIRST = int(os.environ["TRITIUM_TEST_SEED"]) if COUNT else 0


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (COUNT or 16)))
def test_partitions_that_pass_tiles_on(seed: int) -> None:
    program = Program(seed)
    text = program.text
    gpu = from_ttgir(text, 90)
    for items, given in ((0, 1), (1, 5), (5, -3)):
        wanted = program.expected(items, given)
        out = np.full(wanted.shape, -1, np.int32)
        gpu.launch(1, out, items, given)
        np.testing.assert_array_equal(out, wanted, err_msg=f"{items} items\n{text}")
