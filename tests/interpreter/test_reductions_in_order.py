"""tests/e2e/cpu/test_reductions_in_order.py, interpreted."""

from tests.e2e.cpu.test_reductions_in_order import *  # noqa: F403
