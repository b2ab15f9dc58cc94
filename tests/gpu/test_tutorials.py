"""tests/e2e/cpu/test_tutorials.py on GPUs."""

from tests.e2e.cpu.test_tutorials import *  # noqa: F403
