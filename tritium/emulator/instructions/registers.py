"""`setmaxnreg`: warps give registers to their block, or take more of them.

A block begins with the same number for every thread, `.maxnreg` of the kernel in units of eight. What warps give is the
block's, and who takes more waits until there are enough. The warps of a warp group (four, from a multiple of four) must
do the same; a kernel without `.maxnreg` moves none, as the assembler then leaves the instruction out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ends import BLOCKED, ENDS_OF, PARTED, End
from ..errors import BarrierError, UnknownInstruction
from ..ptx import Immediate, Instruction
from ..types import Array

if TYPE_CHECKING:
    from ..machine import Machine

__all__ = ["Registers"]

GROUP = 4  # warps
UNIT, LEAST, MOST = 8, 24, 256


class Registers:
    """How many registers each thread of every warp has, and how many the blocks have to give."""

    def __init__(self, machine: Machine) -> None:
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
        """What is wrong with a warp's request; None if nothing is, which is noted."""
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


class SetMaxRegisters(End):
    """`setmaxnreg.inc` and `.dec`"""

    wakes = True

    def __init__(self, machine: Machine, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        operand = i.operands[0]
        if not isinstance(operand, Immediate) or i.modifiers[0] not in ("inc", "dec"):
            raise UnknownInstruction(f"the emulator does not know {i.text}", i)
        self.wanted, self.gives = int(operand.value), i.modifiers[0] == "dec"
        if self.wanted % UNIT or not LEAST <= self.wanted <= MOST:
            raise BarrierError(f"registers are a multiple of {UNIT} from {LEAST} to {MOST}, not {self.wanted}", i)
        self.registers = registers_of(machine)

    def together(self) -> int:
        return PARTED if self.registers.first else self.following

    def apart(self, mask: Array) -> None:
        m, registers = self.machine, self.registers
        if not registers.first:
            m.move(mask, self.following)
            return
        mask = self.pass_by(mask) | ((m.state == BLOCKED) & (m.pc == self.number))
        here = mask.reshape(-1, 32)
        alive = m.alive.reshape(-1, 32)
        go = np.zeros_like(here)
        for warp in np.nonzero(here.any(axis=1) & (here == alive).all(axis=1))[0].tolist():
            if warp not in registers.waiting:
                wrong = registers.wrong(warp, self.wanted, self.gives)
                if wrong is not None:
                    raise m.error(BarrierError, wrong, self.i, 32 * warp)
            go[warp] = registers.move(warp, self.wanted)
        gone = (go & here).ravel()
        m.block_at(mask & ~gone, self.number)
        m.move(gone, self.following)
        if self.gives and gone.any():
            m.wake()

    def lacking(self, thread: int) -> str:
        warp = thread >> 5
        free = int(self.registers.free[warp // self.registers.per_cta])
        return f" (its threads have {int(self.registers.of[warp])} registers, the block has {free} a thread to give)"


def registers_of(machine: Machine) -> Registers:
    """The registers of a machine: one table for all instructions."""
    if machine.registers is None:
        machine.registers = made = Registers(machine)
        machine.resettable.append(made.reset)
    return machine.registers  # type: ignore[no-any-return]


ENDS_OF["setmaxnreg"] = SetMaxRegisters
