"""tests/e2e/cpu/test_libdevice.py on GPUs, whose library is NVIDIA's."""

from tests.e2e.cpu.test_libdevice import *  # noqa: F403
