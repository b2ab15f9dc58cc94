"""tests/e2e/cpu/test_scans.py on GPUs."""

from tests.e2e.cpu.test_scans import *  # noqa: F403
