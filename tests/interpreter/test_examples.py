"""tests/e2e/cpu/test_examples.py, interpreted."""

from tests.e2e.cpu.test_examples import *  # noqa: F403
