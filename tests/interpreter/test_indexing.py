"""tests/e2e/cpu/test_indexing.py, interpreted."""

from tests.e2e.cpu.test_indexing import *  # noqa: F403
