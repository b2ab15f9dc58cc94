"""tests/e2e/cpu/test_signed_zeros.py on GPUs."""

import pytest

from tests.e2e.cpu.test_signed_zeros import *  # noqa: F403

pytestmark = pytest.mark.share(1)

del test_atomics_through_descriptors_order_zeros  # noqa: F821  (TMA may take either)
