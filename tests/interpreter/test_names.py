"""tests/e2e/cpu/test_names.py, interpreted."""

from tests.e2e.cpu.test_names import *  # noqa: F403
