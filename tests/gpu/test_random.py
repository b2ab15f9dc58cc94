"""tests/e2e/cpu/test_random.py on GPUs."""

from tests.e2e.cpu.test_random import *  # noqa: F403
