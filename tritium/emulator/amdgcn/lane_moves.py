"""DPP: the first source of an instruction moved between lanes (MI300 ISA, section 6.8; RDNA3 ISA, section 7.7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import AssemblyError
from ..types import Array
from .assembly import Instruction
from .state import State

__all__ = ["CONTROLS", "LaneMove"]

#: The modifiers that say how lanes move.
CONTROLS = (
    *("quad_perm", "dpp8", "row_mirror", "row_half_mirror", "row_shl", "row_shr", "row_ror", "row_xmask", "row_share"),
    *("row_newbcast", "row_bcast", "wave_shl", "wave_rol", "wave_shr", "wave_ror"),
)


class LaneMove(NamedTuple):
    """Lane n reads lane `source[n]` where `inside[n]`; lanes outside `enabled` are not written.

    A lane that reads outside its row, or a disabled lane, reads 0 with `zero` (bound_ctrl), and else is not written.
    """

    source: Array
    inside: Array
    enabled: Array
    zero: bool
    fetch_inactive: bool

    @staticmethod
    def of(i: Instruction, lanes: int) -> LaneMove | None:
        """What the modifiers of an instruction ask for."""
        if "dpp" not in i.encoding:
            return None
        lane = np.arange(lanes)
        found = _permutation(i, lane)
        if found is None:
            raise AssemblyError(f"{i.name}: unknown DPP control", i)
        source, inside = found
        rows, banks = i.number("row_mask", 15), i.number("bank_mask", 15)
        enabled = (rows >> (lane // 16 % 4) & 1 == 1) & (banks >> (lane % 16 // 4) & 1 == 1)
        zero = i.modifiers.get("bound_ctrl") is not None
        return LaneMove(source, inside, enabled, zero, i.number("fi") == 1)

    def moved(self, s: State, row: Array) -> Array:
        """A register as the lanes see it."""
        return np.where(self.readable(s), row[:, self.source], np.uint32(0))

    def readable(self, s: State) -> Array:
        """The lanes whose source lane exists and is active."""
        if s.full or self.fetch_inactive:
            return self.inside[None, :]
        return self.inside[None, :] & s.exec[:, self.source]

    def written(self, s: State) -> Array:
        """The lanes that are written."""
        return self.enabled[None, :] if self.zero else self.enabled[None, :] & self.readable(s)


def _permutation(i: Instruction, lane: Array) -> tuple[Array, Array] | None:
    """(the source of each lane, where it is inside)."""
    everywhere = np.ones(len(lane), bool)
    row, within = lane & ~15, lane & 15
    if "quad_perm" in i.modifiers:
        order = np.array(i.bits("quad_perm", 0, 4))
        return (lane & ~3) + order[lane & 3], everywhere
    if "dpp8" in i.modifiers:
        order = np.array(i.bits("dpp8", 0, 8))
        return (lane & ~7) + order[lane & 7], everywhere
    if "row_mirror" in i.modifiers:
        return row + 15 - within, everywhere
    if "row_half_mirror" in i.modifiers:
        return (lane & ~7) + 7 - (lane & 7), everywhere
    for name, moved in (("row_shl", within + i.number("row_shl")), ("row_shr", within - i.number("row_shr"))):
        if name in i.modifiers:
            return row + (moved & 15), (moved >= 0) & (moved < 16)
    if "row_ror" in i.modifiers:
        return row + ((within - i.number("row_ror")) & 15), everywhere
    if "row_xmask" in i.modifiers:
        return row + (within ^ i.number("row_xmask")), everywhere
    for name in ("row_share", "row_newbcast"):
        if name in i.modifiers:
            return row + i.number(name), everywhere
    if "row_bcast" in i.modifiers:
        return _row_broadcast(i.number("row_bcast"), lane)
    return _wave_move(i, lane)


def _row_broadcast(number: int, lane: Array) -> tuple[Array, Array]:
    """row_bcast:15 gives each row the last lane of the row before, row_bcast:31 the upper half lane 31."""
    if number == 15:
        return (lane & ~15) - 1 & 63, lane >= 16
    return np.full(len(lane), 31), lane >= 32


def _wave_move(i: Instruction, lane: Array) -> tuple[Array, Array] | None:
    lanes = len(lane)
    for name, step, wraps in (
        ("wave_shl", 1, False),
        ("wave_rol", 1, True),
        ("wave_shr", -1, False),
        ("wave_ror", -1, True),
    ):
        if name in i.modifiers:
            source = lane + step
            return source % lanes, (source >= 0) & (source < lanes) | wraps
    return None
