"""tests/e2e/cpu/test_details.py, interpreted."""

from tests.e2e.cpu.test_details import *  # noqa: F403
