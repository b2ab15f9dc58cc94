"""AMD GPUs by architecture: the limits of a SIMD and of a workgroup, and the matrix instructions.

Sources: the instruction set references of CDNA 3, CDNA 4, RDNA 3 and RDNA 4 (waves, registers and LDS of a compute
unit), and LLVM's user guide for AMDGPU targets (allocation granules of VGPRs).

>>> mi300 = amd_gpu("gfx942")
>>> mi300.warp_size, mi300.mfma_version, mi300.lds_per_workgroup, mi300.simd
(64, 3, 65536, SIMD(vgprs=512, granule=8, waves=8))
"""

from __future__ import annotations

import functools
from typing import ClassVar, NamedTuple

from ..support.dataclasses import dataclass

__all__ = ["SIMD", "AmdGPU", "amd_gpu"]


class SIMD(NamedTuple):
    """VGPRs of a lane, their allocation granule, resident waves."""

    vgprs: int
    granule: int
    waves: int


_SIMDS = {"gfx942": SIMD(512, 8, 8), "gfx1100": SIMD(1536, 24, 16)}
_LDS = {"gfx942": 65536, "gfx1100": 131072}
_LDS_PER_WORKGROUP = {"gfx950": 160 * 1024, "gfx1250": 320 * 1024}
_MFMA = {"gfx908": 1, "gfx90a": 2, "gfx940": 3, "gfx941": 3, "gfx942": 3, "gfx950": 4}


@dataclass(frozen=True, slots=True)
class AmdGPU:
    """A GPU of architecture `arch`, such as "gfx942"."""

    arch: str

    simds: ClassVar[int] = 4
    """SIMDs of a compute unit (CDNA), or of a workgroup processor (RDNA)."""

    @property
    def generation(self) -> int:
        """The number of the family: 9 for CDNA, 10 and more for RDNA and what came after."""
        return int(self.arch[3:-2])

    @property
    def warp_size(self) -> int:
        """Threads of a warp: 64 on CDNA, 32 on later families."""
        return 32 if self.generation >= 10 else 64

    @property
    def simd(self) -> SIMD:
        """The limits of a SIMD; KeyError for architectures whose code is not generated."""
        return _SIMDS[self.arch]

    @property
    def lds(self) -> int:
        """Bytes of LDS that the workgroups on four SIMDs share; KeyError as for `simd`."""
        return _LDS[self.arch]

    @property
    def lds_per_workgroup(self) -> int:
        """Bytes of LDS that a workgroup can have."""
        return _LDS_PER_WORKGROUP.get(self.arch, 64 * 1024)

    @property
    def mfma_version(self) -> int:
        """1 for gfx908, 2 for gfx90a, 3 for gfx94x, 4 for gfx950; 0: no MFMA."""
        return _MFMA.get(self.arch, 0)

    @property
    def wmma_version(self) -> int:
        """1 for gfx11, 2 for gfx120x and gfx117x; 0: none, or an unsupported one (gfx1250)."""
        if self.arch.startswith(("gfx120", "gfx117")):
            return 2
        return 1 if self.arch.startswith("gfx11") else 0

    @property
    def copies_buffers_to_lds(self) -> bool:
        """Whether buffer loads write LDS without passing registers: CDNA 3 and 4."""
        return self.mfma_version in (3, 4)

    @property
    def copy_bits(self) -> tuple[int, ...]:
        """Bits that one instruction copies from global memory to LDS for each lane; none without such instructions."""
        return {3: (32,), 4: (32, 128)}.get(self.mfma_version, (32, 64, 128) if self.arch == "gfx1250" else ())

    @property
    def has_buffer_atomics(self) -> bool:
        """Whether read-modify-write operations by buffer instructions are used: CDNA 3 and 4, RDNA 4, gfx1250."""
        return self.mfma_version in (3, 4) or self.generation == 12

    def has_buffer_float_add(self, element: str) -> bool:
        """Whether a buffer instruction adds floats of a type: not bf16 on CDNA 3, not f64 on RDNA 4."""
        if self.mfma_version == 3:
            return element != "bf16"
        return not (self.arch.startswith("gfx120") and element == "f64")

    def has_buffer_float_extremes(self, width: int) -> bool:
        """Whether buffer instructions find the maximum and minimum of floats of `width` bits: of 32 bits from RDNA 1
        on, of 64 on CDNA 2 to 4 and gfx1250."""
        if width == 32:
            return self.generation >= 10
        return width == 64 and (self.mfma_version >= 2 or self.arch == "gfx1250")

    @property
    def has_tensor_data_mover(self) -> bool:
        """Whether hardware reads tensor descriptors."""
        return self.arch == "gfx1250"

    @property
    def has_clusters(self) -> bool:
        """Whether several workgroups form a cluster."""
        return self.arch == "gfx1250"


@functools.lru_cache(64)
def amd_gpu(arch: str) -> AmdGPU:
    """The GPU of an architecture, without a mode suffix such as "-strict"."""
    return AmdGPU(arch.removesuffix("-strict"))
