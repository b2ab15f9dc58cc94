"""tests/e2e/cpu/test_uneven_programs.py, interpreted."""

from tests.e2e.cpu.test_uneven_programs import *  # noqa: F403
