"""tests/e2e/cpu/test_scaled_dot.py on GPUs."""

from tests.e2e.cpu.test_scaled_dot import *  # noqa: F403
