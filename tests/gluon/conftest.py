from collections.abc import Iterator

import pytest

from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.emulated_hip import EmulatedHIPDriver


@pytest.fixture
def hopper() -> Iterator[None]:
    """Launches run on an emulated H100, which checks every access, barrier and race."""
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


@pytest.fixture(params=["gfx942", "gfx1100"])
def amd(request: pytest.FixtureRequest) -> Iterator[EmulatedHIPDriver]:
    """Launches run on an emulated MI300 (CDNA3) and an emulated RX 7900 (RDNA3)."""
    emulated = EmulatedHIPDriver(request.param)
    driver.set_active(emulated)
    yield emulated
    driver.reset_active()


@pytest.fixture
def cdna3() -> Iterator[None]:
    """Launches run on an emulated MI300."""
    driver.set_active(EmulatedHIPDriver("gfx942"))
    yield
    driver.reset_active()
