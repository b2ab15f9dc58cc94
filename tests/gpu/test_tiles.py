"""tests/e2e/cpu/test_tiles.py on GPUs."""

import pytest

from tests.e2e.cpu import test_tiles
from tests.e2e.cpu.test_tiles import *  # noqa: F403

# A product takes in at least 32 bytes of each operand's row or column: 32 bytes of i8 are a K of 32.
SIZES = {
    "f16": [(16, 16, 16), (64, 32, 128), (16, 256, 16), (128, 16, 32), (1, 64, 32), (4, 2, 64)],
    "f32": test_tiles.SIZES,
    "f64": test_tiles.SIZES,
    "i8": [(64, 32, 128), (128, 16, 32), (1, 64, 32), (4, 2, 64)],
}


@pytest.mark.parametrize(("dtype", "size"), [(ty, size) for ty in ("f16", "f32", "f64") for size in SIZES[ty]], ids=str)
def test_dot(dtype, size, rng, tmp_path):
    test_tiles.test_dot(dtype, size, rng, tmp_path)


@pytest.mark.parametrize("size", SIZES["i8"], ids=str)
def test_integer_dot_is_exact(size, rng, tmp_path):
    test_tiles.test_integer_dot_is_exact(size, rng, tmp_path)
