"""tests/e2e/cpu/test_signed_zeros.py on GPUs."""

import pytest

from tests.e2e.cpu.test_signed_zeros import *  # noqa: F403

pytestmark = pytest.mark.share(1)
