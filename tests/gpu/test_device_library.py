"""tests/e2e/cpu/test_device_library.py on GPUs, whose library is NVIDIA's."""

from tests.e2e.cpu.test_device_library import *  # noqa: F403
