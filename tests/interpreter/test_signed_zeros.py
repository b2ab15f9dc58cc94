"""tests/e2e/cpu/test_signed_zeros.py, interpreted."""

from tests.e2e.cpu.test_signed_zeros import *  # noqa: F403
