"""tests/e2e/cpu/test_language.py, interpreted."""

from tests.e2e.cpu.test_language import *  # noqa: F403
