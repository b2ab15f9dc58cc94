"""tests/e2e/cpu/test_uneven.py on GPUs, and what CPUs have not."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.e2e.cpu.test_uneven import *  # noqa: F403
from tests.e2e.uneven import Guarded


@tritium.jit
def _collatz(n):
    steps = 0
    while n != 1:
        n = tl.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    return steps


@tritium.jit
def map_kernel(x, y, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(y + at, tl.map_elementwise(_collatz, tl.load(x + at)))


@pytest.mark.share(1)
def test_functions_of_elements(rng):
    """A loop that would not end for 0 is not run for what lies behind a block."""
    x, y = Guarded(rng.integers(1, 30, 12).astype(np.int32)), Guarded(np.zeros(12, np.int32))
    map_kernel[(1,)](x.array, y.array, 12)
    steps = []
    for v in x.array.tolist():
        steps.append(0)
        while v != 1:
            v, steps[-1] = (v // 2 if v % 2 == 0 else 3 * v + 1), steps[-1] + 1
    y.check(steps)
