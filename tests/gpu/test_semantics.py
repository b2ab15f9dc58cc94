"""tests/e2e/cpu/test_semantics.py on GPUs."""

from tests.e2e.cpu.test_semantics import *  # noqa: F403
