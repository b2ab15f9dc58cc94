"""tests/e2e/cpu/test_scaled_dot.py on GPUs."""

import numpy as np
import pytest

from tests.e2e.cpu import test_scaled_dot
from tests.e2e.cpu.test_scaled_dot import *  # noqa: F403


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_packed_along_rows_and_columns(kind: type) -> None:
    test_scaled_dot.test_packed_along_rows_and_columns(kind, interpret=False)
