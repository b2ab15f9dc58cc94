"""tests/e2e/cpu/test_names.py on GPUs."""

from tests.e2e.cpu.test_names import *  # noqa: F403
