"""The active driver and how it is chosen: `driver.active`, `driver.serving(...)`.

A launch runs where its arrays are (`serving`): on the CPU, or on the CUDA GPU whose memory they are in. The active
driver serves everything else: queries about the machine, and launches without arrays. It is the CUDA driver if there is
a GPU, else the CPU's; the setting `runtime.target` (TRITIUM_TARGET) says otherwise. An emulated
GPU (`emulated_driver.EmulatedDriver`) takes the arrays of the CPU's memory.
A driver of the user's that is made active with `set_active` serves every launch, whatever its arguments.

The drivers themselves are registered by `runtime.driver`, which imports them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..backends.driver import DriverBase
from ..support import OptionError, settings
from ..support.lazy import LazyModule
from .arrays import HOST

__all__ = ["DeviceTarget", "DriverConfig", "driver", "get_device_key", "register_drivers"]

_devices = LazyModule("..backends.nvidia.device", __package__)


_makers: dict[str, Callable[..., DriverBase]] = {}


def register_drivers(makers: Mapping[str, Callable[..., DriverBase]]) -> None:
    """Set the functions that make the drivers "cpu" and "cuda", and "hip" and "emulated" of a GPU's name."""
    _makers.update(makers)


class DeviceTarget(NamedTuple):
    """Where a launch runs: the driver, its device's number, and the target to compile for."""

    driver: Any
    device: Any
    target: Any


def _default_backend() -> str:
    """The target named by TRITON_DEFAULT_BACKEND; "" if it is not set."""
    name = settings.runtime.default_backend or ""
    if name not in ("", "nvidia", "amd", "cpu"):
        raise OptionError(f"TRITON_DEFAULT_BACKEND is nvidia, amd or cpu, not {name!r}")
    return name.replace("nvidia", "cuda").replace("amd", "hip")


def _wanted() -> tuple[str, str]:
    """The target named by TRITIUM_TARGET ("" if unset), and the GPU that follows it ("gfx942" of "hip:gfx942"; by
    default "90" to emulate, none else); OptionError if malformed."""
    text = settings.runtime.target or _default_backend()
    found = re.fullmatch(r"(?:cpu|cuda|hip(?::(gfx[0-9a-f]+))?|emulated(?::(\d+|gfx[0-9a-f]+))?|)", text)
    if found is None:
        raise OptionError(f"TRITIUM_TARGET is cpu, cuda or hip:gfx942, or emulated:90 or emulated:gfx942, not {text!r}")
    name = text.partition(":")[0]
    return name, found[1] or found[2] or ("90" if name == "emulated" else "")


def _has_rocm() -> bool:
    """Whether torch is imported and was built for ROCm: it calls AMD GPUs `cuda`."""
    return bool(getattr(getattr(sys.modules.get("torch"), "version", None), "hip", None))


def _has_gpu() -> bool:
    """Whether there is a GPU for launches without arrays."""
    if _has_rocm():
        return bool(sys.modules["torch"].cuda.is_available())
    return bool(_devices.is_available())


class DriverConfig:
    """`driver.active` and how to change it."""

    def __init__(self) -> None:
        self._cpu: Any = None
        self._cuda: Any = None
        self._default: Any = None
        self._active: Any = None
        self._emulated: bool | None = None  # whether the setting makes every launch emulated
        self._cpu_place: DeviceTarget | None = None

    @property
    def cpu(self) -> Any:
        """The CPU's driver."""
        if self._cpu is None:
            self._cpu = _makers["cpu"]()
        return self._cpu

    @property
    def cuda(self) -> Any:
        """The driver of the GPUs, whether there are any or not: of AMD's where the setting or torch says so."""
        if self._cuda is None:
            wanted, arch = _wanted()
            self._cuda = _makers["hip"](arch) if wanted == "hip" or _has_rocm() else _makers["cuda"]()
        return self._cuda

    @property
    def default(self) -> Any:
        """The driver named by the setting `runtime.target`, else that of the GPUs if there is one, else the CPU's."""
        if self._default is None:
            wanted, emulated = _wanted()
            if wanted == "emulated":
                self._default = _makers["emulated"](emulated)
            else:
                wanted = wanted or ("cuda" if _has_gpu() else "cpu")
                self._default = self.cpu if wanted == "cpu" else self.cuda
        return self._default

    @property
    def active(self) -> Any:
        """The driver in use."""
        return self.default if self._active is None else self._active

    def serving(self, where: int | None) -> DeviceTarget:
        """The device of a launch whose arrays are at `where` (see `placement.place`)."""
        chosen = self._active
        if chosen is None:
            if self._emulated is None:
                self._emulated = _wanted()[0] == "emulated"
            chosen = self.default if where is None or self._emulated else self.cpu if where == HOST else self.cuda
            if chosen is self._cpu and self._cpu_place is not None:
                return self._cpu_place
        if where is None or where == HOST or chosen is not self._cuda:
            found = DeviceTarget(chosen, chosen.get_current_device(), chosen.get_current_target())
            if chosen is self._cpu:
                self._cpu_place = found  # a process has one CPU
            return found
        return DeviceTarget(chosen, where, chosen.target_of(where))

    def set_active(self, driver: Any) -> None:
        """Use `driver` from now on, for every launch.

        One that `triton.backends.backends` lists is only preferred: it serves launches without arrays and queries about
        the machine; other launches still run where their arrays are. PyTorch's compiler activates these alternately.
        """
        preferred = getattr(driver, "prefers", None)
        if preferred is None:
            settings.generation.value += 1
            self._active = driver
        elif _wanted()[0] != "emulated" and self.active is not getattr(self, preferred):
            settings.generation.value += 1
            self._active, self._default = None, getattr(self, preferred)

    def set_active_to_cpu(self) -> None:
        """Run everything on the CPU from now on; arrays of GPUs are errors."""
        self.set_active(self.cpu)

    def reset_active(self) -> None:
        """Return to the default driver, which is determined again."""
        settings.generation.value += 1
        self._active = self._default = self._emulated = self._cuda = None


driver = DriverConfig()


def get_device_key() -> Any:
    """The device of a launch without arrays, as a kernel's `device_caches` has it."""
    return driver.serving(None).device
