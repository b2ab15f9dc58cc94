"""`driver.active`: the machine that kernels run on, as Triton's programs ask about it (Triton's name of this module).

The choice of a driver is in `driver_config`; this module registers the drivers.
"""

from __future__ import annotations

from typing import Any

from ..backends.driver import DriverBase
from ..compiler import compile_for
from ..support.lazy import LazyModule
from .cpu_driver import CPUDriver
from .driver_config import DriverConfig, driver, get_device_key, register_drivers

__all__ = ["DriverConfig", "driver", "get_device_key"]

_cuda = LazyModule(".cuda", __package__)
_emulated = LazyModule(".emulated", __package__)
_emulated_hip = LazyModule(".emulated_hip", __package__)
_hip = LazyModule(".hip", __package__)


def _emulated_gpu(name: str) -> DriverBase:
    """The emulated GPU "90" or "gfx942"."""
    if name.startswith("gfx"):
        return _emulated_hip.EmulatedHIPDriver(name)
    return _emulated.EmulatedCUDADriver(int(name))


register_drivers(
    {
        "cpu": CPUDriver,
        "cuda": lambda: _cuda.CUDADriver(),
        "hip": lambda arch: _hip.HIPDriver(arch),
        "emulated": _emulated_gpu,
    }
)
compile_for(lambda: driver.active.get_current_target())


def __getattr__(name: str) -> Any:
    """`tritium.runtime.driver` is the module for `import`, and stands for the object in it for attribute access."""
    return getattr(driver, name)
