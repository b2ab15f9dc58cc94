"""tests/e2e/cpu/test_tutorials.py, interpreted."""

from tests.e2e.cpu.test_tutorials import *  # noqa: F403
