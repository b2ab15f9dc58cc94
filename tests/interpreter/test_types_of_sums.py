"""tests/e2e/cpu/test_types_of_sums.py, interpreted."""

from tests.e2e.cpu.test_types_of_sums import *  # noqa: F403
