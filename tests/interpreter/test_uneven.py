"""tests/e2e/cpu/test_uneven.py, interpreted."""

from tests.e2e.cpu.test_uneven import *  # noqa: F403
