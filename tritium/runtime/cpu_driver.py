"""The CPU as a device of Triton's: its driver, and the functions of `torch.cuda` for devices that run synchronously."""

from __future__ import annotations

import os
from typing import Any

from ..backends.driver import DriverBase
from ..compiler import default_target
from ..support.lazy import LazyModule

__all__ = ["CPUDriver", "DeviceInterface", "PreferredCPU"]

_torch = LazyModule("torch")
_benchmark = LazyModule(".benchmark", __package__)


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


class _Utilities:
    """A driver's `utils`."""

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        """Properties under Triton's names: a core counts as an SM, its level-2 cache as shared memory."""
        target = default_target()
        return {
            "max_shared_mem": 1 << 20,
            "max_num_regs": 1 << 16,  # as of a GPU: scripts compute numbers of programs from it
            "multiprocessor_count": os.cpu_count() or 1,
            "warpSize": 1,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 64,
            "total_memory": _memory_bytes(),
            "name": target.cpu,
        }


class DeviceInterface:
    """The few functions of `torch.cuda` that benchmarks call, for a device that runs synchronously."""

    def synchronize(self, device: Any = None) -> None:
        """Nothing to wait for: launches return when they are done."""

    def current_device(self) -> int:
        """0"""
        return 0

    def set_device(self, device: Any) -> None:
        """No effect: there is one device."""

    def is_available(self) -> bool:
        """True"""
        return True


class CPUDriver(DriverBase):
    """The host CPU as a device of Triton's."""

    def __init__(self) -> None:
        self.utils = _Utilities()

    @staticmethod
    def is_active() -> bool:
        """True: there is always a CPU."""
        return True

    def get_current_target(self) -> Any:
        """The target that launches compile for; it has `.backend` ("cpu"), `.arch` and `.warp_size`."""
        return default_target()

    def get_current_device(self) -> int:
        """0"""
        return 0

    def set_current_device(self, device: int) -> None:
        """No effect: there is one device."""

    def get_current_stream(self, device: Any = None) -> int:
        """0: launches run at once."""
        return 0

    def get_active_torch_device(self) -> Any:
        """`torch.device("cpu")`"""
        return _torch.device("cpu")

    def get_device_interface(self) -> DeviceInterface:
        """A substitute for `torch.cuda`."""
        return DeviceInterface()

    def get_benchmarker(self) -> Any:
        """`testing.do_bench`"""
        return _benchmark.do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """A buffer larger than the caches; clearing it (`clear_cache`) evicts everything else."""
        return bytearray(64 << 20)

    def clear_cache(self, cache: Any) -> None:
        """Write all of `cache`, which evicts everything else from the CPU's caches."""
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
