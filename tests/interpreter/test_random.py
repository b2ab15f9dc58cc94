"""tests/e2e/cpu/test_random.py, interpreted."""

from tests.e2e.cpu.test_random import *  # noqa: F403
