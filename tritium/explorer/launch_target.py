"""The target of the launches of a script."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..runtime import driver
from ..runtime.emulated import EmulatedCUDADriver
from ..runtime.emulated_hip import EmulatedHIPDriver
from ..tools.request import parse_target

__all__ = ["launches_on"]


@contextlib.contextmanager
def launches_on(target: str) -> Iterator[None]:
    """Launches are for the target: emulated, if it is a GPU's."""
    described = parse_target(target) if target else None
    if described is None or described.backend == "cpu":
        yield
        return
    if described.backend == "hip":
        driver.set_active(EmulatedHIPDriver(str(described.arch)))
    else:
        driver.set_active(EmulatedCUDADriver(int(described.arch)))
    try:
        yield
    finally:
        driver.reset_active()
