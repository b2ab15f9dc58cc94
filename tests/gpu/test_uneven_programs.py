"""tests/e2e/cpu/test_uneven_programs.py on GPUs."""

from tests.e2e.cpu.test_uneven_programs import *  # noqa: F403
