"""Properties of AMD GPUs, by architecture.

Sources: the instruction set references of CDNA 3, CDNA 4 and RDNA, and LLVM's user guide for AMDGPU targets.
"""

from __future__ import annotations

import re
from typing import Any

from ...hardware.amd import AmdGPU, amd_gpu
from ...support import OptionError
from ...support.dataclasses import dataclass

__all__ = ["GENERATED", "HIPTarget"]

GENERATED = ("gfx942", "gfx1100")
"""The architectures that code is generated for."""


@dataclass(frozen=True, slots=True)
class HIPTarget:
    """A GPU of architecture `arch`, such as "gfx942". Raises OptionError for names that are none."""

    arch: str

    def __post_init__(self) -> None:
        if re.fullmatch(r"gfx\d{1,2}[0-9a-f]{2}(-strict)?", self.arch) is None:
            name, _, features = self.arch.partition(":")
            hint = f"\nhint: {name!r}, without the target features {features!r}" if features else ""
            raise OptionError(f"the arch of a HIP target is a name such as gfx942, got {self.arch!r}{hint}")
        if not 6 <= self.gpu.generation <= 12:
            raise OptionError(
                f"there is no AMD GPU architecture {self.arch!r}\nhint: code is generated for {' and '.join(GENERATED)}"
            )

    @classmethod
    def of(cls, target: Any) -> HIPTarget:
        """The target of this value, or of `GPUTarget("hip", "gfx942", 64)`, whose warps have the size they have."""
        if isinstance(target, cls):
            return target
        found = cls(str(target.arch))
        size = getattr(target, "warp_size", found.warp_size)
        if str(size) != str(found.warp_size):
            raise OptionError(f"a warp of {found.arch} has {found.warp_size} threads, not {size}")
        return found

    @property
    def backend(self) -> str:
        """ "hip" """
        return "hip"

    @property
    def key(self) -> str:
        """A short stable text for cache keys and messages."""
        return f"hip:{self.arch}"

    @property
    def base_arch(self) -> str:
        """The architecture without a mode suffix."""
        return self.arch.removesuffix("-strict")

    @property
    def gpu(self) -> AmdGPU:
        """The machine model."""
        return amd_gpu(self.arch)

    @property
    def warp_size(self) -> int:
        """Threads of a warp: 64 on CDNA, 32 on later families."""
        return self.gpu.warp_size

    @property
    def has_code_generation(self) -> bool:
        """Whether kernels compile to code objects; the stages of other architectures end at `ttir`."""
        return self.arch in GENERATED

    @property
    def shared_memory(self) -> int:
        """Bytes of LDS that a workgroup can have at most."""
        return self.gpu.lds_per_workgroup

    @property
    def fp8_dtypes(self) -> tuple[str, ...]:
        """The 8-bit float types that kernels may convert to, in hardware or by arithmetic."""
        return ("fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")

    @property
    def foreign_fp8_dtypes(self) -> tuple[str, ...]:
        """8-bit floats whose dots are computed in fp16: those of another hardware generation."""
        return ("fp8e4b8", "fp8e5b16") if self.arch == "gfx950" else ()

    @property
    def dot_precisions(self) -> tuple[str, ...]:
        """The input precisions of fp32 dots; CDNA 3 has instructions for tf32."""
        return ("bf16x3", "bf16x6", "ieee", "tf32") if self.arch == "gfx942" else ("ieee", "bf16x3", "bf16x6")

    @property
    def has_descriptors(self) -> bool:
        """Whether a tensor data mover reads tensor descriptors; elsewhere they become pointers."""
        return self.gpu.has_tensor_data_mover

    @property
    def has_clusters(self) -> bool:
        """Whether several workgroups form a cluster, so that `num_ctas` may exceed 1."""
        return self.gpu.has_clusters
