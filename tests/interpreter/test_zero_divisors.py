"""tests/e2e/cpu/test_zero_divisors.py, interpreted."""

from tests.e2e.cpu.test_zero_divisors import *  # noqa: F403
