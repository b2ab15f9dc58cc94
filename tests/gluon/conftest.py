from collections.abc import Iterator

import pytest

from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver


@pytest.fixture
def hopper() -> Iterator[None]:
    """Launches run on an emulated H100, which checks every access, barrier and race."""
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()
