"""tests/e2e/cpu/test_programs.py, interpreted."""

from tests.e2e.cpu.test_programs import *  # noqa: F403
