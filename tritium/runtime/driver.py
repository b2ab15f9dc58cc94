"""The machines that kernels run on, as Triton's programs ask about them: `driver.active`.

A launch runs where its arrays are (`serving`): on the CPU, or on the CUDA GPU whose memory they are in. The active
driver answers everything else: what a script asks about the machine, and launches without arrays. It is the CUDA
driver's where there is a GPU, else the CPU's; the setting `runtime.target` (TRITIUM_TARGET) says otherwise. An emulated
GPU (`emulated.EmulatedCUDADriver`) takes the arrays of the CPU's memory.
A driver of one's own that was made active with `set_active` serves every launch, whatever its arguments.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ..backends.driver import DriverBase
from ..compiler import compile_for, default_target
from ..support import OptionError, settings
from ..support.lazy import LazyModule
from ..support.namedtuples import NamedTuple
from .arrays import HOST

__all__ = ["CPUDriver", "DeviceInterface", "DriverConfig", "Place", "PreferredCPU", "driver", "get_device_key"]

_torch = LazyModule("torch")
_testing = LazyModule("..testing", __package__)
_cuda = LazyModule(".cuda", __package__)
_emulated = LazyModule(".emulated", __package__)
_devices = LazyModule("..backends.nvidia.device", __package__)


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


class _Utilities:
    """What scripts ask a driver's `utils` for."""

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        """Figures by Triton's names: a core counts as a multiprocessor, its level-2 cache as shared memory."""
        target = default_target()
        return {
            "max_shared_mem": 1 << 20,
            "max_num_regs": 1 << 16,  # as a GPU's: scripts compute from it how many programs to start
            "multiprocessor_count": os.cpu_count() or 1,
            "warpSize": 1,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 64,
            "total_memory": _memory_bytes(),
            "name": target.cpu,
        }


class DeviceInterface:
    """The few functions of `torch.cuda` that benchmarks call, for a device that is always in step."""

    def synchronize(self, device: Any = None) -> None:
        """Nothing is under way: launches return when they are done."""

    def current_device(self) -> int:
        """0"""
        return 0

    def set_device(self, device: Any) -> None:
        """There is one."""

    def is_available(self) -> bool:
        """True"""
        return True


class CPUDriver(DriverBase):
    """The processor we run on as a device of Triton's."""

    def __init__(self) -> None:
        self.utils = _Utilities()

    @staticmethod
    def is_active() -> bool:
        """A CPU is always there."""
        return True

    def get_current_target(self) -> Any:
        """The target that launches compile for; it has `.backend` ("cpu"), `.arch` and `.warp_size`."""
        return default_target()

    def get_current_device(self) -> int:
        """0"""
        return 0

    def set_current_device(self, device: int) -> None:
        """There is one."""

    def get_current_stream(self, device: Any = None) -> int:
        """0: launches run at once."""
        return 0

    def get_active_torch_device(self) -> Any:
        """`torch.device("cpu")`"""
        return _torch.device("cpu")

    def get_device_interface(self) -> DeviceInterface:
        """Stands for `torch.cuda`."""
        return DeviceInterface()

    def get_benchmarker(self) -> Any:
        """`testing.do_bench`"""
        return _testing.do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """A buffer larger than the caches; clearing it (`clear_cache`) evicts everything else."""
        return bytearray(64 << 20)

    def clear_cache(self, cache: Any) -> None:
        """Write all of `cache`, so that nothing else is left in the processor's caches."""
        cache[:] = bytes(len(cache))

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of a signature's type."""
        if ty[0] == "*":
            return "void*"
        floats = {"fp16": "double", "bf16": "double", "fp32": "double", "f32": "double", "fp64": "double"}
        if ty in floats:
            return floats[ty]
        return f"{'u' if ty[0] == 'u' else ''}int{'8' if ty[1:] == '1' else ty[1:]}_t"


class PreferredCPU(CPUDriver):
    """The CPU's driver as `triton.backends.backends` lists it: see `DriverConfig.set_active`."""

    prefers = "cpu"


class Place(NamedTuple):
    """Where a launch runs: the driver, its device's number, and the target to compile for."""

    driver: Any
    device: Any
    target: Any


def _default_backend() -> str:
    """The target that TRITON_DEFAULT_BACKEND names; "" where it is not set."""
    name = settings.runtime.default_backend or ""
    if name not in ("", "nvidia", "cpu"):
        raise OptionError(f"TRITON_DEFAULT_BACKEND is nvidia or cpu, not {name!r}")
    return name.replace("nvidia", "cuda")


def _wanted() -> tuple[str, int]:
    """What TRITIUM_TARGET says, "" where nothing, and the capability of a GPU to emulate; OptionError for a mistake."""
    text = settings.runtime.target or _default_backend()
    found = re.fullmatch(r"cpu|cuda|emulated(?::(\d+))?|", text)
    if found is None:
        raise OptionError(f"TRITIUM_TARGET is cpu or cuda, or emulated:90, not {text!r}")
    return text.partition(":")[0], int(found[1] or 90)


class DriverConfig:
    """`driver.active` and how to change it."""

    def __init__(self) -> None:
        self._cpu: Any = None
        self._cuda: Any = None
        self._default: Any = None
        self._active: Any = None
        self._emulated: bool | None = None  # does the setting have every launch emulated?
        self._cpu_place: Place | None = None

    @property
    def cpu(self) -> Any:
        """The CPU's driver."""
        if self._cpu is None:
            self._cpu = CPUDriver()
        return self._cpu

    @property
    def cuda(self) -> Any:
        """The driver of CUDA GPUs, whether there are any or not."""
        if self._cuda is None:
            self._cuda = _cuda.CUDADriver()
        return self._cuda

    @property
    def default(self) -> Any:
        """What the setting `runtime.target` says, else the driver of the GPUs if there is one, else the CPU's."""
        if self._default is None:
            wanted, capability = _wanted()
            if wanted == "emulated":
                self._default = _emulated.EmulatedCUDADriver(capability)
            else:
                wanted = wanted or ("cuda" if _devices.is_available() else "cpu")
                self._default = self.cpu if wanted == "cpu" else self.cuda
        return self._default

    @property
    def active(self) -> Any:
        """The driver in use."""
        return self.default if self._active is None else self._active

    def serving(self, where: int | None) -> Place:
        """What serves a launch whose arrays are at `where` (see `placement.place`)."""
        chosen = self._active
        if chosen is None:
            if self._emulated is None:
                self._emulated = _wanted()[0] == "emulated"
            chosen = self.default if where is None or self._emulated else self.cpu if where == HOST else self.cuda
            if chosen is self._cpu and self._cpu_place is not None:
                return self._cpu_place
        if where is None or where == HOST or chosen is not self._cuda:
            found = Place(chosen, chosen.get_current_device(), chosen.get_current_target())
            if chosen is self._cpu:
                self._cpu_place = found  # a process has one CPU
            return found
        return Place(chosen, where, chosen.target_of(where))

    def set_active(self, driver: Any) -> None:
        """Use `driver` from now on, for every launch.

        One that `triton.backends.backends` lists is only preferred: it serves launches without arrays and answers for
        the machine, and arrays go on to say where they are used. PyTorch's compiler makes these active by turns.
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
        """Back to the default, which is looked for anew."""
        settings.generation.value += 1
        self._active = self._default = self._emulated = None


driver = DriverConfig()


def get_device_key() -> Any:
    """The device of a launch without arrays, as a kernel's `device_caches` has it."""
    return driver.serving(None).device


compile_for(lambda: driver.active.get_current_target())


def __getattr__(name: str) -> Any:
    """`tritium.runtime.driver` is the module for `import`, and stands for the object in it for attribute access."""
    return getattr(driver, name)
