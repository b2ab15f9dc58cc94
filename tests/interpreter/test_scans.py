"""tests/e2e/cpu/test_scans.py, interpreted."""

from tests.e2e.cpu.test_scans import *  # noqa: F403
