"""NVIDIA GPUs by compute capability: the limits of an SM and a CTA, and the instructions.

Sources: the technical specifications by compute capability of the CUDA C++ programming guide 13.0 (section 17.1), and
NVIDIA's occupancy calculator for the units in which registers and shared memory are allocated; for L2 caches the white
papers of the architectures and the data sheets of the largest GPUs.

>>> hopper = nvidia_gpu(90)
>>> hopper.shared_memory_per_cta, hopper.max_warps, hopper.mma_versions
(232448, 64, (3, 2))
"""

from __future__ import annotations

import functools
from typing import ClassVar, NamedTuple

from ..support.dataclasses import dataclass
from .nvidia_features import MMA_SYNC, WGMMA, Feature

__all__ = ["NvidiaGPU", "nvidia_gpu"]

OLDEST = 75


class _SM(NamedTuple):
    """Per SM: resident warps and CTAs, KiB of shared memory; KiB of it that one CTA can have; KiB of the L2 cache."""

    warps: int
    ctas: int
    shared: int
    shared_per_cta: int
    l2: int


_SMS = {
    75: _SM(32, 16, 64, 64, 6 * 1024 // 72),
    80: _SM(64, 32, 164, 163, 40 * 1024 // 108),
    86: _SM(48, 16, 100, 99, 6 * 1024 // 84),
    87: _SM(48, 16, 164, 163, 4 * 1024 // 16),
    89: _SM(48, 24, 100, 99, 96 * 1024 // 142),
    90: _SM(64, 32, 228, 227, 50 * 1024 // 132),
    100: _SM(64, 32, 228, 227, 126 * 1024 // 148),
    120: _SM(48, 24, 100, 99, 128 * 1024 // 188),
}

_COUNTS = {75: 72, 80: 108, 86: 84, 87: 16, 89: 142, 90: 132, 100: 148, 120: 188}
"""SMs of the largest GPU that is sold, by NVIDIA's architecture papers (TITAN RTX, A100, RTX 3090 Ti, Orin, L40, H100
SXM, B200, RTX PRO 6000)."""


@dataclass(frozen=True, slots=True)
class NvidiaGPU:
    """A GPU of compute capability `capability` / 10: 90 for Hopper."""

    capability: int

    warp_size: ClassVar[int] = 32
    schedulers: ClassVar[int] = 4
    """Warp schedulers of an SM; each has a quarter of the registers."""
    registers: ClassVar[int] = 65536
    """32-bit registers of an SM, which is also the limit of a CTA."""
    registers_per_thread: ClassVar[int] = 255
    """Instructions encode a register in eight bits, and one of the values is the zero register."""
    register_unit: ClassVar[int] = 256
    """Registers: the allocation unit of a warp."""
    shared_memory_unit: ClassVar[int] = 128
    """Bytes: the allocation unit of a CTA."""

    @property
    def name(self) -> str:
        """ "sm_90" """
        return f"sm_{self.capability}"

    @property
    def max_warps(self) -> int:
        """Resident warps of an SM."""
        return _sm(self.capability).warps

    @property
    def max_ctas(self) -> int:
        """Resident CTAs of an SM."""
        return _sm(self.capability).ctas

    @property
    def shared_memory(self) -> int:
        """Bytes of shared memory of an SM."""
        return _sm(self.capability).shared * 1024

    @property
    def shared_memory_per_cta(self) -> int:
        """Bytes of shared memory that one CTA can have."""
        return _sm(self.capability).shared_per_cta * 1024

    @property
    def reserved_shared_memory(self) -> int:
        """Bytes that the system reserves of the shared memory of each CTA, since Ampere."""
        return 1024 if self.capability >= 80 else 0

    @property
    def l2_cache_per_sm(self) -> int:
        """Bytes of the L2 cache for each SM, on the GPU of this capability that has most SMs.

        >>> nvidia_gpu(90).l2_cache_per_sm // 1024
        387
        """
        return _sm(self.capability).l2 * 1024

    @property
    def sms(self) -> int:
        """SMs of the largest GPU."""
        return _COUNTS[max(c for c in _COUNTS if c <= self.capability)]

    @property
    def mma_versions(self) -> tuple[int, ...]:
        """The MMA versions of dots, best first: 2 is `mma.sync`, 3 `wgmma`."""
        return ((3,) if self.has(WGMMA) else ()) + ((2,) if self.has(MMA_SYNC) else ())

    def has(self, feature: Feature) -> bool:
        """Whether this GPU has the feature, one of `nvidia_features`."""
        return feature.on(self.capability)

    @classmethod
    def multiplications_per_cycle(cls, bits: int) -> float:
        """Multiplications with addition of an SM's tensor cores per cycle, of elements of this many bits, on Hopper.

        989 TFLOP/s in f16 are 2,048 on each of 132 SMs at 1.83 GHz (H100 SXM); half as wide elements, twice as many.

        >>> NvidiaGPU.multiplications_per_cycle(8)
        4096.0
        """
        return 2048 * 16 / bits

    @classmethod
    def register_limit(cls, warps: int) -> int:
        """The registers that a thread can have in a CTA of `warps` warps.

        >>> [NvidiaGPU.register_limit(warps) for warps in (4, 8, 16)]
        [255, 255, 128]
        """
        return min(cls.registers_per_thread, cls.registers // (cls.warp_size * warps) // 8 * 8)


@functools.lru_cache(64)
def nvidia_gpu(capability: int) -> NvidiaGPU:
    """The GPU of compute capability `capability` / 10; ValueError for those before 7.5."""
    if capability < OLDEST:
        raise ValueError(f"compute capability {capability} is not supported: it must be {OLDEST} or more")
    return NvidiaGPU(capability)


@functools.lru_cache(64)
def _sm(capability: int) -> _SM:
    """The limits of the newest listed SM that is not newer."""
    return _SMS[max(c for c in _SMS if c <= capability)]
