"""tests/e2e/cpu/test_control_flow.py, interpreted."""

from tests.e2e.cpu.test_control_flow import *  # noqa: F403
