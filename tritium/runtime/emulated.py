"""An emulated CUDA GPU: kernels are compiled for it, and the emulator executes their PTX.

    driver.set_active(EmulatedCUDADriver(90))      # or TRITIUM_TARGET=emulated:90

From then on launches take NumPy arrays, torch CPU tensors and other arrays in CPU memory, run synchronously, and print
the output of kernels. An error of a kernel (an access out of bounds, a race in shared memory, a deadlock) is raised by
the launch with the source line. No GPU, CUDA driver or assembler is needed.
"""

from __future__ import annotations

from ..backends.compiler import GPUTarget
from ..backends.nvidia.launch import MAX_X, MAX_YZ
from ..backends.nvidia.target import CUDATarget
from ..compiler import CompiledKernel
from ..emulator import Memory, Report
from ..emulator import launch as emulate
from .emulated_driver import EmulatedDriver, Utilities

__all__ = ["EmulatedCUDADriver"]


class EmulatedCUDADriver(EmulatedDriver):
    """An NVIDIA GPU of compute capability `capability` / 10, emulated on the CPU (see `EmulatedDriver`)."""

    grid_limits = (MAX_X, MAX_YZ, MAX_YZ)

    def __init__(self, capability: int = 90, check_races: bool = True) -> None:
        target = CUDATarget(capability)
        utilities = Utilities(target, f"emulated sm_{capability}", 32, divmod(capability, 10))
        self.name = f"emulated:{capability}"
        super().__init__(target, utilities, check_races, frozenset(("gsan",)))

    def get_current_target(self) -> GPUTarget:
        """`GPUTarget("cuda", 90, 32)`"""
        return GPUTarget("cuda", self.target.capability, 32)

    def emulate(self, kernel: CompiledKernel, grid: tuple[int, int, int], params: bytes, memory: Memory) -> Report:
        """Execute a kernel's PTX."""
        values = kernel.values
        return emulate(
            kernel.asm["ptx"],
            grid,
            params,
            name=kernel.name,
            shared_bytes=values.get("shared") or 0,
            cluster=values.get("num_ctas") or 1,
            check_races=self.check_races,
            cooperative=bool(values.get("launch_cooperative_grid")),
            check_global_races="gsan" in (values.get("device_checks") or ""),
            memory=memory,
        )
