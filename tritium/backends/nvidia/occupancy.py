"""How many blocks of a kernel a multiprocessor runs at a time, and what limits them.

The numbers are those of the technical specifications by compute capability (CUDA C++ programming guide 13.0, section
17.1); units of allocation are those of NVIDIA's occupancy calculator.

>>> occupancy(90, registers=168, warps=4, shared=98304)
Occupancy(blocks=2, warps=8, most=64, limit='shared memory')
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["REGISTERS", "Occupancy", "blocks_by_limit", "occupancy", "register_limit"]

REGISTERS = 65536
"""Registers of a multiprocessor, and as many as a block may have."""

_UNIT = 256  # registers that a warp is given at a time
_RESERVED = 1024  # bytes of shared memory that the system keeps of each block, since Ampere
MOST_REGISTERS = 255  # that instructions have names for


class Machine(NamedTuple):
    """What a multiprocessor has: warps, blocks, and KiB of shared memory."""

    warps: int
    blocks: int
    shared: int


_MACHINES = {
    75: Machine(32, 16, 64),
    80: Machine(64, 32, 164),
    86: Machine(48, 16, 100),
    87: Machine(48, 16, 164),
    89: Machine(48, 24, 100),
    90: Machine(64, 32, 228),
    100: Machine(64, 32, 228),
    120: Machine(48, 24, 100),
}


class Occupancy(NamedTuple):
    """Blocks and warps at a time, of `most` warps; `limit` is what allows no more: "registers", "shared memory",
    "warps" or "blocks"."""

    blocks: int
    warps: int
    most: int
    limit: str


def blocks_by_limit(capability: int, registers: int, warps: int, shared: int) -> dict[str, int]:
    """The blocks that each resource allows at a time: for blocks of so many warps, registers a thread, and bytes of
    shared memory."""
    machine = _MACHINES[max(c for c in _MACHINES if c <= capability)]
    reserved = _RESERVED if capability >= 80 else 0
    per_warp = -(-max(registers, 1) * 32 // _UNIT) * _UNIT
    fitting = REGISTERS // per_warp // 4 * 4  # each of the four schedulers has a quarter of the registers
    held = -(-(shared + reserved) // 128) * 128
    return {
        "blocks": machine.blocks,
        "warps": machine.warps // warps,
        "registers": fitting // warps,
        "shared memory": machine.shared * 1024 // held if held else machine.blocks,
    }


def occupancy(capability: int, registers: int, warps: int, shared: int) -> Occupancy:
    """What the scarcest of them allows."""
    limits = blocks_by_limit(capability, registers, warps, shared)
    limit = min(limits, key=lambda name: limits[name])
    most = _MACHINES[max(c for c in _MACHINES if c <= capability)].warps
    return Occupancy(limits[limit], limits[limit] * warps, most, limit)


def register_limit(warps: int) -> int:
    """The registers that a thread can have in a block of so many warps.

    >>> register_limit(4), register_limit(8), register_limit(16)
    (255, 255, 128)
    """
    return min(MOST_REGISTERS, REGISTERS // (32 * warps) // 8 * 8)
