"""Executes a batch of CTAs: the scheduler of segments.

A *step* is a function of a mask (`True` for all threads, or an array of booleans) that executes one instruction on the
arrays of registers. While all threads are at one segment they run without masks. When they diverge, the lowest segment
runs first, so that threads reconverge; from time to time those that have waited longest run, as a thread that spins on
a lock needs the one that holds it.
"""

from __future__ import annotations

import numpy as np

from ..support.quantities import counted
from .errors import Deadlock, RunawayKernel
from .geometry import NOWHERE, Step
from .program import Program
from .registry import step_of
from .state import MachineState
from .terminators import DIVERGED, DONE, TERMINATORS, FallThrough, Terminator
from .threads import BLOCKED, EXITED, RUNNING
from .types import Array

__all__ = ["Machine"]

#: Segments executed by lowest index, before as many are executed by longest wait.
FAIRNESS_INTERVAL = 128
#: The bytes of a register before the program writes it: not zero, so that no program relies on one.
POISON = 0xA5
SHARED_POISON = 0xFF  # not a number in every floating-point format


class Machine(MachineState):
    """`ctas` CTAs of `block` threads for one program. `run` executes them after `reset` has set their indices."""

    def __init__(
        self,
        program: Program,
        block: tuple[int, int, int],
        ctas: int,
        shared_bytes: int,
        cluster: tuple[int, int, int],
        races: bool,
        lockstep: bool = False,
        uninitialized: bool = False,
    ) -> None:
        super().__init__(program, block, ctas, shared_bytes, cluster, races, lockstep, uninitialized)
        self.max_steps = 0
        self.steps: list[list[Step]] = []
        self.terminators: list[Terminator] = []
        for number, segment in enumerate(program.segments):
            self.steps.append([step_of(self, i) for i in segment.instructions])
            kind = FallThrough if segment.terminator is None else TERMINATORS[segment.terminator.opcode]
            self.terminators.append(kind(self, number, segment.terminator))
        self.wakes = np.array([end.wakes for end in self.terminators])
        self.lengths = [len(s.instructions) + (s.terminator is not None) for s in program.segments]

    # -- running ---------------------------------------------------------------------------------------------------

    def reset(self, numbers: Array, grid: tuple[int, int, int]) -> None:
        """Prepare to execute the CTAs with these linear indices of a grid; those of a cluster are adjacent."""
        self.grid = grid
        self.cta_numbers = numbers
        self.set_specials(grid)
        for name, row in self.rows.items():
            row.view(np.uint8).fill(0 if self.program.registers.get(name) == "pred" else POISON)
        self.shared.raw.fill(SHARED_POISON)
        self.local.raw.fill(POISON)
        self.state[:] = np.where(self.exists, RUNNING, EXITED)
        self.pc[:] = 0
        self.ready[:] = np.where(self.exists, 0, NOWHERE)
        self.waited = np.zeros(self.threads, np.int64)
        for again in self.resettable:
            again()
        if self.races is not None:
            self.races.reset()
        if self.initcheck is not None:
            self.initcheck.reset()

    def run(self) -> None:
        """Execute until every thread has exited."""
        with np.errstate(all="ignore"):
            self.turn = 0
            at = 0 if self.exists.all() else DIVERGED
            while at != DONE:
                self.turn += 1
                if self.turn > self.max_steps:
                    raise RunawayKernel(f"{self.program.name} has not ended after {self.max_steps:,} segments")
                at = self.run_converged(at) if at >= 0 else self.run_diverged()
        if self.asynchrony is not None:
            self.asynchrony.all_exited()

    def run_converged(self, at: int) -> int:
        """Run the segment `at` on all threads; the next one, DIVERGED or DONE."""
        for step in self.steps[at]:
            step(True)
        self.instructions += self.lengths[at] * self.threads
        following = self.terminators[at].execute_converged()
        if following == DIVERGED:
            self.ready[:] = self.pc[:] = at
            self.terminators[at].execute_diverged(np.ones(self.threads, bool))
        return following

    def run_diverged(self) -> int:
        """Run one segment on the threads at it; return the segment where all are afterwards, or DIVERGED."""
        ready = self.ready
        at = int(ready.min())
        if at == NOWHERE:
            return self.finished()
        if self.turn // FAIRNESS_INTERVAL % 2:
            runnable = np.nonzero(ready != NOWHERE)[0]
            at = int(ready[runnable[np.argmin(self.waited[runnable])]])
        mask = ready == at
        for step in self.steps[at]:
            step(mask)
        self.waited[mask] = self.turn
        self.instructions += self.lengths[at] * int(np.count_nonzero(mask))
        self.terminators[at].execute_diverged(mask)
        low = int(ready.min())
        return low if low != NOWHERE and low == int(ready.max()) else DIVERGED

    def finished(self) -> int:
        """No thread can run: DONE if none is blocked, else Deadlock."""
        waiting = np.nonzero(self.state == BLOCKED)[0]
        if not waiting.size:
            return DONE
        lines = ["no thread can continue:"]
        first = None
        for at in np.unique(self.pc[waiting]):
            threads = waiting[self.pc[waiting] == at]
            end = self.program.segments[at].terminator
            first = first or end
            assert end is not None
            wait = "waits" if len(threads) == 1 else "wait"
            who = f"{counted(len(threads), 'thread')}, among them {self.where(int(threads[0]))}, {wait}"
            why = self.terminators[at].waits_for(int(threads[0]))
            lines.append(f"{who} at PTX line {end.line}: {end.text}{why}")
        gone = int(np.count_nonzero((self.state == EXITED) & self.exists))
        lines.append(f"{counted(gone, 'thread')} exited")
        left = "" if self.asynchrony is None else self.asynchrony.not_waited_for()
        raise Deadlock("\n".join(lines) + left, first)
