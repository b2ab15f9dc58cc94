"""An emulated AMD GPU: kernels are compiled for it, and the emulator executes their AMDGCN assembly.

    driver.set_active(EmulatedHIPDriver("gfx942"))      # or TRITIUM_TARGET=emulated:gfx942

Launches take arrays in CPU memory, as on an emulated CUDA GPU (`emulated`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..backends.amd.target import HIPTarget
from ..backends.compiler import GPUTarget
from ..compiler import CompiledKernel
from ..emulator import Memory, Report
from ..emulator.amdgcn import launch as emulate
from .emulated_driver import EmulatedDriver, Utilities

__all__ = ["EmulatedHIPDriver"]


class EmulatedHIPDriver(EmulatedDriver):
    """An AMD GPU of architecture `arch`, gfx942 or gfx1100, emulated on the CPU (see `EmulatedDriver`)."""

    grid_limits = (2**31 - 1, 65536, 65536)  # HIP's limits of a launch
    compile_options: Mapping[str, object] = MappingProxyType({"emulated": True})

    def __init__(self, arch: str = "gfx942", check_races: bool = True) -> None:
        target = HIPTarget(arch)
        utilities = Utilities(target, f"emulated {arch}", target.warp_size, (target.gpu.generation, 0))
        self.name = f"emulated:{arch}"
        super().__init__(target, utilities, check_races, frozenset())

    def get_current_target(self) -> GPUTarget:
        """`GPUTarget("hip", "gfx942", 64)`"""
        return GPUTarget("hip", self.target.arch, self.target.warp_size)

    def emulate(self, kernel: CompiledKernel, grid: tuple[int, int, int], params: bytes, memory: Memory) -> Report:
        """Execute a kernel's assembly."""
        return emulate(
            kernel.asm["amdgcn"],
            grid,
            params,
            name=kernel.name,
            shared_bytes=kernel.values.get("shared") or 0,
            check_races=self.check_races,
            cooperative=bool(kernel.values.get("launch_cooperative_grid")),
            memory=memory,
        )
