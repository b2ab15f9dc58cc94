"""tests/e2e/cpu/test_expressions.py, interpreted."""

from tests.e2e.cpu.test_expressions import *  # noqa: F403
