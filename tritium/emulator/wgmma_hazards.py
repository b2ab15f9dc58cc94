"""Register hazards of WGMMAs in flight.

wgmma.mma_async reads A, where it is in registers, and writes its accumulators until the warp has waited for the group
that it was committed in. Meanwhile no instruction may access these registers, except a WGMMA of the same shape with the
same accumulators. Accesses by other instructions are ordered before a WGMMA only by a wgmma.fence in between. (PTX ISA,
"Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation".)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .errors import AsynchronyError
from .geometry import Geometry, Mask, Step
from .program import Program
from .ptx import Address, Instruction, Operand, Pair, Register, Tuple
from .types import Array

__all__ = ["WgmmaHazards"]

NO_GROUP = np.iinfo(np.int64).max
_A, _D = 1, 2


def registers_of(operand: Operand) -> Iterator[str]:
    """The registers in an operand."""
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, Tuple):
        for item in operand.items:
            yield from registers_of(item)
    elif isinstance(operand, Pair):
        yield from registers_of(operand.first)
        yield from registers_of(operand.second)
    elif isinstance(operand, Address):
        yield from registers_of(operand.base)


def is_mma_async(i: Instruction) -> bool:
    return i.opcode == "wgmma" and "mma_async" in i.modifiers


def wgmma_registers(program: Program) -> dict[str, int]:
    """The registers that WGMMAs of a program use as accumulators or as A, each with its row in the tables."""
    found: dict[str, int] = {}
    for segment in program.segments:
        for i in (*segment.instructions, segment.terminator):
            if i is not None and is_mma_async(i):
                for operand in i.operands[:2]:
                    if isinstance(operand, Tuple):
                        for name in registers_of(operand):
                            found.setdefault(name, len(found))
    return found


class WgmmaHazards:
    """For each such register and warp: the group of the WGMMA in flight, and whether it was accessed since a fence.

    `committed` has the number of groups that each warp has committed.
    """

    def __init__(self, machine: Geometry, committed: Array) -> None:
        self.machine, self.committed = machine, committed
        self.numbers = wgmma_registers(machine.program)
        shape = (len(self.numbers), machine.warps)
        self.group = np.full(shape, NO_GROUP, np.int64)
        self.role = np.zeros(shape, np.int8)
        self.shape = np.zeros(shape, np.int16)
        #: Accessed by other instructions since the last wgmma.fence.
        self.touched = np.ones(shape, bool)
        self.by: list[Instruction | None] = [None] * len(self.numbers)
        self.busy = False

    def reset(self) -> None:
        self.group.fill(NO_GROUP)
        self.touched.fill(True)
        self.busy = False

    def warps(self, mask: Mask) -> Array | slice:
        return slice(None) if mask is True else mask.reshape(-1, 32).any(axis=1)

    # -- other instructions ------------------------------------------------------------------------------------------

    def watched(self, step: Step, i: Instruction) -> Step:
        """The step of an instruction other than WGMMA, with a check if it accesses such registers."""
        rows = np.array(
            sorted({self.numbers[n] for o in i.operands for n in registers_of(o) if n in self.numbers}), int
        )
        if not rows.size:
            return step

        def run(mask: Mask) -> None:
            warps = self.warps(mask)
            if self.busy:
                self.check(rows, warps, i)
            self.touched[rows, warps if isinstance(warps, slice) else np.nonzero(warps)[0][:, None]] = True
            step(mask)

        return run

    def check(self, rows: Array, warps: Array | slice, i: Instruction) -> None:
        running = self.group[rows][:, warps] != NO_GROUP
        if running.any():
            row, column = (int(n[0]) for n in np.nonzero(running))
            self.report(int(rows[row]), int(np.arange(self.machine.warps)[warps][column]), i)

    def report(self, row: int, warp: int, i: Instruction, text: str = "") -> None:
        name = next(name for name, number in self.numbers.items() if number == row)
        m = self.machine
        role = "an accumulator" if self.role[row, warp] == _D else "an operand"
        text = text or f"uses {name}, {role} of a wgmma that has not been waited for"
        raise AsynchronyError(f"{m.program.name}: the warp of {m.where(warp * 32)} {text}", i, self.by[row])

    # -- WGMMAs ------------------------------------------------------------------------------------------------------

    def mma_async(self, i: Instruction, shape: int) -> Step:
        """Check the registers of a WGMMA and mark them in flight; `shape` is that of its accumulators."""
        d = self.rows(i.operands[0])
        a = self.rows(i.operands[1]) if isinstance(i.operands[1], Tuple) else d[:0]
        both = np.concatenate([d, a])

        def run(mask: Mask) -> None:
            warps = self.warps(mask)
            warps = np.arange(self.machine.warps)[warps]
            self.check_touched(both, warps, i)
            if self.busy:
                self.check_wgmmas(d, a, warps, shape, i)
            group = self.committed[warps]
            for rows, role in ((d, _D), (a, _A)):
                if rows.size:
                    cells = np.ix_(rows, warps)
                    self.group[cells], self.role[cells], self.shape[cells] = group, role, shape
                    for row in rows.tolist():
                        self.by[row] = i
            self.busy = True

        return run

    def rows(self, operand: Operand) -> Array:
        return np.array([self.numbers[n] for n in registers_of(operand)], int)

    def check_touched(self, rows: Array, warps: Array, i: Instruction) -> None:
        touched = self.touched[np.ix_(rows, warps)]
        if touched.any():
            row, column = (int(n[0]) for n in np.nonzero(touched))
            name = next(name for name, number in self.numbers.items() if number == rows[row])
            text = f"executes wgmma on {name}, which another instruction has accessed since the last wgmma.fence"
            self.report(int(rows[row]), int(warps[column]), i, text)

    def check_wgmmas(self, d: Array, a: Array, warps: Array, shape: int, i: Instruction) -> None:
        """A WGMMA may reuse accumulators of its shape, and share A with others; all others must have completed."""
        cells = np.ix_(d, warps)
        wrong = (self.group[cells] != NO_GROUP) & ((self.role[cells] != _D) | (self.shape[cells] != shape))
        rows = d
        if not wrong.any() and a.size:
            cells, rows = np.ix_(a, warps), a
            wrong = (self.group[cells] != NO_GROUP) & (self.role[cells] != _A)
        if wrong.any():
            row, column = (int(n[0]) for n in np.nonzero(wrong))
            self.report(int(rows[row]), int(warps[column]), i)

    def fence(self, mask: Mask) -> None:
        """wgmma.fence"""
        self.touched[:, self.warps(mask)] = False

    def wait(self, limits: Array) -> None:
        """The WGMMAs in groups below the limit of each warp have completed."""
        if self.busy:
            self.group[self.group < limits] = NO_GROUP
            self.busy = bool((self.group != NO_GROUP).any())
