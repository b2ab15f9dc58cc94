"""`setmaxnreg`: warps release registers to their CTA, or request more of them (see `register_pool`)."""

from __future__ import annotations

import numpy as np

from ..errors import BarrierError, UnknownInstruction
from ..ptx import Immediate, Instruction
from ..register_pool import UNIT
from ..state import MachineState
from ..terminators import DIVERGED, TERMINATORS, Terminator
from ..threads import BLOCKED
from ..types import Array

__all__: list[str] = []

LEAST, MOST = 24, 256


class SetMaxRegisters(Terminator):
    """`setmaxnreg.inc` and `.dec`"""

    wakes = True

    def __init__(self, machine: MachineState, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        operand = i.operands[0]
        if not isinstance(operand, Immediate) or i.modifiers[0] not in ("inc", "dec"):
            raise UnknownInstruction(f"the emulator does not know {i.text}", i)
        self.wanted, self.gives = int(operand.value), i.modifiers[0] == "dec"
        if self.wanted % UNIT or not LEAST <= self.wanted <= MOST:
            raise BarrierError(f"registers are a multiple of {UNIT} from {LEAST} to {MOST}, not {self.wanted}", i)
        self.registers = machine.register_pool

    def execute_converged(self) -> int:
        return DIVERGED if self.registers.first else self.following

    def execute_diverged(self, mask: Array) -> None:
        m, registers = self.machine, self.registers
        if not registers.first:
            m.move(mask, self.following)
            return
        mask = self.skip_predicated_off(mask) | ((m.state == BLOCKED) & (m.pc == self.number))
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

    def waits_for(self, thread: int) -> str:
        warp = thread >> 5
        free = int(self.registers.free[warp // self.registers.per_cta])
        have = int(self.registers.of[warp])
        return f" (its threads have {have} registers each, and {free} per thread are free in the CTA)"


TERMINATORS["setmaxnreg"] = SetMaxRegisters
