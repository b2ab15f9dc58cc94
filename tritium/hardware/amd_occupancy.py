"""Occupancy: the resident waves of a kernel per SIMD, and the limiting resource.

>>> from tritium.hardware.amd import amd_gpu
>>> occupancy(amd_gpu("gfx942"), vgprs=128, lds=0, warps=4)
Occupancy(waves=4, max_waves=8, workgroups=4, limit='VGPRs')
"""

from __future__ import annotations

from typing import NamedTuple

from .amd import AmdGPU

__all__ = ["Occupancy", "occupancy"]


class Occupancy(NamedTuple):
    """Waves per SIMD of `max_waves`, workgroups per compute unit, and what limits them."""

    waves: int
    max_waves: int
    workgroups: int
    limit: str


def occupancy(gpu: AmdGPU, vgprs: int, lds: int, warps: int) -> Occupancy:
    """The occupancy of a kernel with so many VGPRs (AGPRs counted in), bytes of LDS, and warps per workgroup."""
    simd = gpu.simd
    allocated = max(simd.granule, -(-vgprs // simd.granule) * simd.granule)
    per_simd = -(-warps // gpu.simds)  # waves of one workgroup on the fullest SIMD
    limits = {
        "waves": simd.waves // per_simd,
        "VGPRs": min(simd.waves, simd.vgprs // allocated) // per_simd,
    }
    if warps < gpu.simds:
        limits = {name: n * gpu.simds // warps for name, n in limits.items()}
    if lds:
        limits["LDS"] = gpu.lds // lds
    limit = min(limits, key=lambda name: limits[name])
    groups = limits[limit]
    return Occupancy(min(simd.waves, -(-groups * warps // gpu.simds)), simd.waves, groups, limit)
