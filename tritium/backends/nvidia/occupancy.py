"""Occupancy: the resident CTAs of a kernel per SM, and the limiting resource.

The numbers are those of the technical specifications by compute capability (CUDA C++ programming guide 13.0, section
17.1); allocation units are those of NVIDIA's occupancy calculator.

>>> occupancy(90, registers=168, warps=4, shared=98304)
Occupancy(ctas=2, warps=8, max_warps=64, limit='shared memory')
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["REGISTERS", "Occupancy", "ctas_by_limit", "occupancy", "register_limit"]

REGISTERS = 65536
"""Registers of an SM, which is also the limit of a CTA."""

_UNIT = 256  # registers: the allocation unit of a warp
_RESERVED = 1024  # bytes of shared memory that the system reserves per CTA, since Ampere
MAX_REGISTERS = 255  # per thread; instructions encode eight bits


class SMLimits(NamedTuple):
    """The limits of an SM: warps, CTAs, and KiB of shared memory."""

    warps: int
    ctas: int
    shared: int


_SM_LIMITS = {
    75: SMLimits(32, 16, 64),
    80: SMLimits(64, 32, 164),
    86: SMLimits(48, 16, 100),
    87: SMLimits(48, 16, 164),
    89: SMLimits(48, 24, 100),
    90: SMLimits(64, 32, 228),
    100: SMLimits(64, 32, 228),
    120: SMLimits(48, 24, 100),
}


class Occupancy(NamedTuple):
    """Resident CTAs and warps per SM, of `max_warps`; `limit` is the limiting resource: "registers", "shared memory",
    "warps" or "CTAs"."""

    ctas: int
    warps: int
    max_warps: int
    limit: str


def ctas_by_limit(capability: int, registers: int, warps: int, shared: int) -> dict[str, int]:
    """The CTAs per SM that each resource allows, for CTAs of `warps` warps, `registers` per thread and `shared` bytes
    of shared memory."""
    machine = _SM_LIMITS[max(c for c in _SM_LIMITS if c <= capability)]
    reserved = _RESERVED if capability >= 80 else 0
    per_warp = -(-max(registers, 1) * 32 // _UNIT) * _UNIT
    fitting = REGISTERS // per_warp // 4 * 4  # each of the four schedulers has a quarter of the registers
    held = -(-(shared + reserved) // 128) * 128
    return {
        "CTAs": machine.ctas,
        "warps": machine.warps // warps,
        "registers": fitting // warps,
        "shared memory": machine.shared * 1024 // held if held else machine.ctas,
    }


def occupancy(capability: int, registers: int, warps: int, shared: int) -> Occupancy:
    """The occupancy that the scarcest resource allows."""
    limits = ctas_by_limit(capability, registers, warps, shared)
    limit = min(limits, key=lambda name: limits[name])
    most = _SM_LIMITS[max(c for c in _SM_LIMITS if c <= capability)].warps
    return Occupancy(limits[limit], limits[limit] * warps, most, limit)


def register_limit(warps: int) -> int:
    """The maximum registers per thread in a CTA of `warps` warps.

    >>> register_limit(4), register_limit(8), register_limit(16)
    (255, 255, 128)
    """
    return min(MAX_REGISTERS, REGISTERS // (32 * warps) // 8 * 8)
