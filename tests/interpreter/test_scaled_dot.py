"""tests/e2e/cpu/test_scaled_dot.py, interpreted."""

from tests.e2e.cpu.test_scaled_dot import *  # noqa: F403
