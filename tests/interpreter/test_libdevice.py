"""tests/e2e/cpu/test_libdevice.py, interpreted."""

from tests.e2e.cpu.test_libdevice import *  # noqa: F403
