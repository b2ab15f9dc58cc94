"""Applying relocations: how each kind patches code, for x86-64 and AArch64.

Sources: System V ABI, AMD64 supplement, table 4.9; ELF for the Arm 64-bit Architecture (AAELF64), section 5.7.
S is the symbol's address, A the addend, P the address patched, G the address of the symbol's slot in a table of
addresses. Targets out of a branch's reach go through a stub that jumps through such a slot.
"""

from __future__ import annotations

from collections.abc import Callable

from ...support.dataclasses import dataclass
from .elf import MACHINE_AARCH64, MACHINE_X86_64
from .errors import BackendError

__all__ = ["ARCHITECTURES", "Architecture"]

_MASK64 = 0xFFFF_FFFF_FFFF_FFFF


def _store(image: memoryview, at: int, value: int, size: int, signed: bool | None = True) -> None:
    """Write `value`; `signed` None means either reading may hold it."""
    bits = 8 * size
    low = -(1 << (bits - 1)) if signed is not False else 0
    high = (1 << (bits - 1)) if signed else 1 << bits
    if size < 8 and not low <= value < high:
        raise BackendError(f"relocation out of reach: {value:#x} does not fit {bits} bits")
    image[at : at + size] = (value & ((1 << bits) - 1)).to_bytes(size, "little")


Patch = Callable[[memoryview, int, int, int], None]  # (image, offset in it, value S + A or G + A, P)


def _absolute(size: int, signed: bool | None) -> Patch:
    return lambda image, at, value, place: _store(image, at, value, size, signed)


def _relative(size: int) -> Patch:
    return lambda image, at, value, place: _store(image, at, value - place, size)


def _instruction(image: memoryview, at: int, keep: int, bits: int) -> None:
    word = int.from_bytes(image[at : at + 4], "little") & keep | bits
    image[at : at + 4] = word.to_bytes(4, "little")


def _arm_branch26(image: memoryview, at: int, value: int, place: int) -> None:
    delta = value - place
    if delta & 3 or not -(1 << 27) <= delta < 1 << 27:
        raise BackendError(f"branch out of reach: {delta:#x}")
    _instruction(image, at, 0xFC00_0000, delta >> 2 & 0x3FF_FFFF)


def _arm_page21(image: memoryview, at: int, value: int, place: int) -> None:
    delta = (value >> 12) - (place >> 12)
    if not -(1 << 20) <= delta < 1 << 20:
        raise BackendError(f"page out of reach: {delta:#x}")
    _instruction(image, at, 0x9F00_001F, (delta & 3) << 29 | (delta >> 2 & 0x7FFFF) << 5)


def _arm_low12(shift: int) -> Patch:
    def patch(image: memoryview, at: int, value: int, place: int) -> None:
        low = value & 0xFFF
        if low & ((1 << shift) - 1):
            raise BackendError(f"address {value:#x} is not aligned to {1 << shift} bytes")
        _instruction(image, at, 0xFFC0_03FF, low >> shift << 10)

    return patch


@dataclass(frozen=True)
class Architecture:
    """Relocation kinds of one machine.

    `direct` are patched with S + A, `via_table` with G + A, `branches` with S + A or, when that is out of reach,
    with the address of a stub. `stub` is code of `len(stub)` bytes which jumps to the address that it finds
    `stub_slot` bytes after its own start.
    """

    direct: dict[int, Patch]
    via_table: dict[int, Patch]
    branches: dict[int, Patch]
    branch_reach: int
    stub: bytes
    stub_slot: int


_X86_64 = Architecture(
    direct={
        1: _absolute(8, None),  # R_X86_64_64
        2: _relative(4),  # R_X86_64_PC32
        10: _absolute(4, False),  # R_X86_64_32
        11: _absolute(4, True),  # R_X86_64_32S
        24: _relative(8),  # R_X86_64_PC64
    },
    via_table={9: _relative(4), 41: _relative(4), 42: _relative(4)},  # GOTPCREL, GOTPCRELX, REX_GOTPCRELX
    branches={4: _relative(4)},  # R_X86_64_PLT32
    branch_reach=1 << 31,
    stub=bytes.fromhex("ff2502000000cccc"),  # jmp [rip + 2]
    stub_slot=8,
)

_AARCH64 = Architecture(
    direct={
        257: _absolute(8, None),  # R_AARCH64_ABS64
        258: _absolute(4, None),  # R_AARCH64_ABS32
        260: _relative(8),  # R_AARCH64_PREL64
        261: _relative(4),  # R_AARCH64_PREL32
        275: _arm_page21,  # R_AARCH64_ADR_PREL_PG_HI21
        277: _arm_low12(0),  # R_AARCH64_ADD_ABS_LO12_NC
        278: _arm_low12(0),  # R_AARCH64_LDST8_ABS_LO12_NC
        284: _arm_low12(1),  # R_AARCH64_LDST16_ABS_LO12_NC
        285: _arm_low12(2),  # R_AARCH64_LDST32_ABS_LO12_NC
        286: _arm_low12(3),  # R_AARCH64_LDST64_ABS_LO12_NC
        299: _arm_low12(4),  # R_AARCH64_LDST128_ABS_LO12_NC
    },
    via_table={311: _arm_page21, 312: _arm_low12(3)},  # ADR_GOT_PAGE, LD64_GOT_LO12_NC
    branches={282: _arm_branch26, 283: _arm_branch26},  # JUMP26, CALL26
    branch_reach=1 << 27,
    stub=bytes.fromhex("5000005800021fd6"),  # ldr x16, .+8; br x16
    stub_slot=8,
)

ARCHITECTURES = {MACHINE_X86_64: _X86_64, MACHINE_AARCH64: _AARCH64}
