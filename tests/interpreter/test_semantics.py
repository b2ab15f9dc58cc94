"""tests/e2e/cpu/test_semantics.py, interpreted."""

from tests.e2e.cpu.test_semantics import *  # noqa: F403
