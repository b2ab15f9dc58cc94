"""tests/e2e/cpu/test_language.py on GPUs."""

import pytest

import tritium.language as tl
from tests.e2e.cpu import test_language
from tests.e2e.cpu.test_language import *  # noqa: F403


@pytest.mark.parametrize("kind", [tl.float8e5, tl.float8e4nv, tl.float8e4b15], ids=str)
def test_arithmetic_of_8_bits(kind):
    """Of the types that NVIDIA's GPUs have."""
    test_language.test_arithmetic_of_8_bits(kind)
