"""tests/e2e/cpu/test_zero_divisors.py on GPUs."""

import pytest

from tests.e2e.cpu.test_zero_divisors import *  # noqa: F403

pytestmark = pytest.mark.share(1)
