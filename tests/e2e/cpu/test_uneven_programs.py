"""Random programs over blocks of any size, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.e2e.kernels import kernel_from
from tests.e2e.uneven import Guarded
from tests.e2e.uneven_programs import Program


@pytest.mark.parametrize("number", range(8))
def test_programs(number, rng, tmp_path):
    program = Program(rng, 9)
    x = Guarded(np.concatenate([v.ravel() for v in program.inputs]))
    y = Guarded(np.zeros(sum(v.size for v in program.outputs), np.int32))
    kernel_from(program.text, tmp_path)[(1,)](x.array, y.array)
    y.check(np.concatenate([v.ravel() for v in program.outputs]))
