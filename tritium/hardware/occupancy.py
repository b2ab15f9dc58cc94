"""Occupancy: the resident CTAs of a kernel per SM, and the limiting resource.

>>> from tritium.hardware.nvidia import nvidia_gpu
>>> occupancy(nvidia_gpu(90), registers=168, warps=4, shared=98304)
Occupancy(ctas=2, warps=8, max_warps=64, limit='shared memory')
"""

from __future__ import annotations

from typing import NamedTuple

from .nvidia import NvidiaGPU

__all__ = ["Occupancy", "ctas_by_limit", "occupancy"]


class Occupancy(NamedTuple):
    """Resident CTAs and warps per SM, of `max_warps`; `limit` is the limiting resource: "registers", "shared memory",
    "warps" or "CTAs"."""

    ctas: int
    warps: int
    max_warps: int
    limit: str


def ctas_by_limit(gpu: NvidiaGPU, registers: int, warps: int, shared: int) -> dict[str, int]:
    """The CTAs per SM that each resource allows, for CTAs of `warps` warps, `registers` per thread and `shared` bytes
    of shared memory."""
    per_warp = -(-max(registers, 1) * gpu.warp_size // gpu.register_unit) * gpu.register_unit
    resident = gpu.registers // per_warp // gpu.schedulers * gpu.schedulers
    allocated = -(-(shared + gpu.reserved_shared_memory) // gpu.shared_memory_unit) * gpu.shared_memory_unit
    return {
        "CTAs": gpu.max_ctas,
        "warps": gpu.max_warps // warps,
        "registers": resident // warps,
        "shared memory": gpu.shared_memory // allocated if allocated else gpu.max_ctas,
    }


def occupancy(gpu: NvidiaGPU, registers: int, warps: int, shared: int) -> Occupancy:
    """The occupancy that the scarcest resource allows."""
    limits = ctas_by_limit(gpu, registers, warps, shared)
    limit = min(limits, key=lambda name: limits[name])
    return Occupancy(limits[limit], limits[limit] * warps, gpu.max_warps, limit)
