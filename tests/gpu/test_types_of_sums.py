"""tests/e2e/cpu/test_types_of_sums.py on GPUs."""

from tests.e2e.cpu.test_types_of_sums import *  # noqa: F403
