"""Properties of NVIDIA GPUs, by compute capability.

Sources: the tables of compute capabilities in the CUDA C++ programming guide, and the PTX ISA (sections on `mma`,
`wgmma`, `cp.async.bulk.tensor` and `griddepcontrol`).
"""

from __future__ import annotations

import re
from typing import Any

from ...hardware.nvidia import OLDEST, NvidiaGPU, nvidia_gpu
from ...hardware.nvidia_features import FP8_CONVERSIONS, TMA
from ...support import OptionError
from ...support.dataclasses import dataclass

__all__ = ["CUDATarget"]

# The minimum K of a dot by the width of its operands in bits: that of one instruction.
_MIN_DOT_K = {8: 32, 16: 16, 32: 8, 64: 4}


@dataclass(frozen=True, slots=True)
class CUDATarget:
    """A GPU of compute capability `capability` / 10, such as 90 for 9.0 (`sm_90`).

    Raises OptionError for capabilities before 7.5, and for warps of another size than 32.
    """

    capability: int
    warp_size: int = 32

    def __post_init__(self) -> None:
        if self.capability < OLDEST:
            raise OptionError(f"compute capability {self.capability} is not supported: it must be {OLDEST} or more")
        if self.warp_size != NvidiaGPU.warp_size:
            raise OptionError(f"a warp of an NVIDIA GPU has {NvidiaGPU.warp_size} threads, not {self.warp_size}")

    @classmethod
    def of(cls, target: Any) -> CUDATarget:
        """The target of this value, or of `GPUTarget("cuda", 90, 32)`; the capability may be text ("90", "sm_90a")."""
        if isinstance(target, cls):
            return target
        number = re.fullmatch(r"(?:sm_?)?(\d+)[af]?", str(target.arch))
        if number is None:
            raise OptionError(f"the arch of a CUDA target is a compute capability such as 90, got {target.arch!r}")
        size = getattr(target, "warp_size", 32)
        if isinstance(size, bool) or not str(size).isdigit():
            raise OptionError(f"the warp size of a CUDA target is a number, got {size!r}")
        return cls(int(number[1]), int(size))

    @property
    def backend(self) -> str:
        """ "cuda" """
        return "cuda"

    @property
    def arch(self) -> int:
        """The capability: what `GPUTarget` calls the architecture."""
        return self.capability

    @property
    def key(self) -> str:
        """A short stable text for cache keys and messages."""
        return f"cuda:{self.capability}"

    @property
    def gpu(self) -> NvidiaGPU:
        """The machine model."""
        return nvidia_gpu(self.capability)

    @property
    def fp8_dtypes(self) -> tuple[str, ...]:
        """The 8-bit float types that kernels may convert to."""
        return ("fp8e4b15", "fp8e4nv", "fp8e5") if self.gpu.has(FP8_CONVERSIONS) else ("fp8e4b15", "fp8e5")

    @property
    def dot_precisions(self) -> tuple[str, ...]:
        """The input precisions of fp32 dots; the first is the default."""
        return ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")

    @property
    def has_descriptors(self) -> bool:
        """Whether hardware reads tensor descriptors ; elsewhere they become pointers."""
        return self.gpu.has(TMA)

    @property
    def shared_memory(self) -> int:
        """Bytes of shared memory that a block of threads can have at most."""
        return self.gpu.shared_memory_per_cta

    @property
    def imprecise_accumulation(self) -> int:
        """The default of `max_num_imprecise_acc`: Hopper's tensor cores accumulate fp8 with 14 bits."""
        return 1 << 30 if self.capability == 90 else 0

    def min_dot_size(self, lhs_bits: int, rhs_bits: int) -> tuple[int, int, int]:
        """The minimum M, N and K of a dot with operands of these widths; smaller M and N are padded."""
        if lhs_bits != rhs_bits:
            raise OptionError("lhs and rhs bitwidth must be the same")
        return 1, 1, _MIN_DOT_K[lhs_bits]
