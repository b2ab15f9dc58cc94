"""tests/e2e/cpu/test_atomics_and_scans.py, interpreted."""

from tests.e2e.cpu.test_atomics_and_scans import *  # noqa: F403
