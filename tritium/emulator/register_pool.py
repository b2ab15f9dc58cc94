"""The registers that `setmaxnreg` moves between the warps of a CTA.

A CTA begins with the same number for every thread, `.maxnreg` of the kernel in units of eight. Registers that warps
release go to the pool of the CTA, and a warp that requests more waits until the pool has enough. The warps of a warp
group (four, from a multiple of four) must do the same; a kernel without `.maxnreg` moves none, as the assembler then
leaves the instruction out.
"""

from __future__ import annotations

import numpy as np

from .geometry import Geometry

__all__ = ["UNIT", "RegisterPool"]

GROUP = 4  # warps
UNIT = 8


class RegisterPool:
    """How many registers each thread of every warp has, and how many the CTAs have free."""

    def __init__(self, machine: Geometry) -> None:
        said = machine.program.kernel.directives.get("maxnreg")
        self.first = -(-said[0] // UNIT) * UNIT if said else 0
        self.per_cta = machine.padded // 32
        self.of = np.zeros(machine.warps, np.int64)
        self.free = np.zeros(machine.ctas, np.int64)
        #: What the warps of each group have asked for, in order; and how often each warp has.
        self.asked: dict[int, list[int]] = {}
        self.turns = np.zeros(machine.warps, np.int64)
        #: Warps whose request is noted, and not met.
        self.waiting: set[int] = set()
        self.reset()

    def reset(self) -> None:
        self.of.fill(self.first)
        self.free.fill(0)
        self.asked.clear()
        self.turns.fill(0)
        self.waiting.clear()

    def wrong(self, warp: int, wanted: int, gives: bool) -> str | None:
        """The error in a warp's request, or None for a valid one, which is recorded."""
        before, group = int(self.of[warp]), warp // self.per_cta * self.per_cta + warp % self.per_cta // GROUP * GROUP
        if gives != (wanted < before) and wanted != before:
            return f"{'dec' if gives else 'inc'} to {wanted} registers of a thread that has {before}"
        asked = self.asked.setdefault(group, [])
        turn = int(self.turns[warp])
        if turn == len(asked):
            asked.append(wanted)
        if asked[turn] != wanted:
            return f"asks for {wanted} registers, where another warp of its group asks for {asked[turn]}"
        self.turns[warp] += 1
        self.waiting.add(warp)
        return None

    def move(self, warp: int, wanted: int) -> bool:
        """Give or take; False if there are not enough."""
        cta, more = warp // self.per_cta, wanted - int(self.of[warp])
        if more > self.free[cta]:
            return False
        self.free[cta] -= more
        self.of[warp] = wanted
        self.waiting.discard(warp)
        return True
