"""Occupancy: the resident waves of a kernel per SIMD, and the limiting resource.

Sources: the ISA references of CDNA 3 and RDNA 3 (wavefronts and registers per SIMD), and LLVM's user guide for AMDGPU
targets (allocation granules of VGPRs).

>>> occupancy("gfx942", vgprs=128, lds=0, warps=4)
Occupancy(waves=4, max_waves=8, workgroups=4, limit='VGPRs')
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MACHINES", "Machine", "Occupancy", "occupancy"]


class Machine(NamedTuple):
    """Per SIMD: VGPRs of a lane, their allocation granule, waves. Per compute unit: SIMDs, LDS."""

    vgprs: int
    granule: int
    waves: int
    simds: int
    lds: int


MACHINES = {
    "gfx942": Machine(512, 8, 8, 4, 65536),
    "gfx1100": Machine(1536, 24, 16, 4, 131072),
}


class Occupancy(NamedTuple):
    """Waves per SIMD of `max_waves`, workgroups per compute unit, and what limits them."""

    waves: int
    max_waves: int
    workgroups: int
    limit: str


def occupancy(arch: str, vgprs: int, lds: int, warps: int) -> Occupancy:
    """The occupancy of a kernel with so many VGPRs (AGPRs counted in), bytes of LDS, and warps per workgroup."""
    machine = MACHINES[arch]
    allocated = max(machine.granule, -(-vgprs // machine.granule) * machine.granule)
    per_simd = -(-warps // machine.simds)  # waves of one workgroup on the fullest SIMD
    limits = {
        "waves": machine.waves // per_simd,
        "VGPRs": min(machine.waves, machine.vgprs // allocated) // per_simd,
    }
    if warps < machine.simds:
        limits = {name: n * machine.simds // warps for name, n in limits.items()}
    if lds:
        limits["LDS"] = machine.lds // lds
    limit = min(limits, key=lambda name: limits[name])
    groups = limits[limit]
    return Occupancy(min(machine.waves, -(-groups * warps // machine.simds)), machine.waves, groups, limit)
