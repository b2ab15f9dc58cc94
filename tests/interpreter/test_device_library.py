"""tests/e2e/cpu/test_device_library.py, interpreted."""

from tests.e2e.cpu.test_device_library import *  # noqa: F403
