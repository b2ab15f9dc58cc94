"""tests/e2e/cpu/test_device_library.py on GPUs, whose library is NVIDIA's."""

import pytest

from tests.e2e.cpu import test_device_library
from tests.e2e.cpu.test_device_library import *  # noqa: F403


@pytest.mark.parametrize("name", ["add", "mul", "div"])
def test_directed_at_the_ends(name):
    """Of fp64: NVIDIA's library flushes subnormal fp32."""
    test_device_library.test_directed_at_the_ends(name, "float64")
