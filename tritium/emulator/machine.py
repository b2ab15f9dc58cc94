"""The threads of some blocks, running together: registers, memory, and who runs next.

Every register is an array over the threads of all blocks of a batch, each block padded to whole warps. A *step* is a
function of a mask (`True` for all threads, or an array of booleans) that executes one instruction on the arrays.
While all threads stand at one segment they run without masks. When they part, the lowest segment runs first, so that
those ahead wait for those behind where their ways join; from time to time those that have waited longest get a turn,
as a thread that spins on a lock needs the one that holds it.
"""

from __future__ import annotations

import numpy as np

from .ends import DONE, ENDS_OF, PARTED, End, Fall
from .errors import Deadlock, RunawayKernel
from .geometry import NOWHERE, Step
from .program import Program
from .registry import step_of
from .state import MachineState
from .threads import BLOCKED, EXITED, RUNNING
from .types import Array

__all__ = ["Machine"]

#: Turns in which the lowest segment runs, before those that waited longest get as many.
TURNS = 128
#: What a register holds before the program writes it: no zero, so that nothing comes to rely on one.
POISON = 0xA5
SHARED_POISON = 0xFF  # not a number in every floating-point format


class Machine(MachineState):
    """`ctas` CTAs of `block` threads for one program. `run` executes them after `reset` has said which they are."""

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
        self.ends: list[End] = []
        for number, segment in enumerate(program.segments):
            self.steps.append([step_of(self, i) for i in segment.instructions])
            kind = Fall if segment.end is None else ENDS_OF[segment.end.opcode]
            self.ends.append(kind(self, number, segment.end))
        self.wakes = np.array([end.wakes for end in self.ends])
        self.lengths = [len(s.instructions) + (s.end is not None) for s in program.segments]

    # -- running ---------------------------------------------------------------------------------------------------

    def reset(self, numbers: Array, grid: tuple[int, int, int]) -> None:
        """Be the blocks with these numbers of a grid; those of a cluster stand together."""
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
        if self.written is not None:
            self.written.reset()

    def run(self) -> None:
        """Execute until every thread has exited."""
        with np.errstate(all="ignore"):
            self.turn = 0
            at = 0 if self.exists.all() else PARTED
            while at != DONE:
                self.turn += 1
                if self.turn > self.max_steps:
                    raise RunawayKernel(f"{self.program.name} has not ended after {self.max_steps:,} segments")
                at = self.run_together(at) if at >= 0 else self.run_apart()
        if self.asynchrony is not None:
            self.asynchrony.all_exited()

    def run_together(self, at: int) -> int:
        """Run the segment `at` on all threads; the next one, PARTED or DONE."""
        for step in self.steps[at]:
            step(True)
        self.instructions += self.lengths[at] * self.threads
        following = self.ends[at].together()
        if following == PARTED:
            self.ready[:] = self.pc[:] = at
            self.ends[at].apart(np.ones(self.threads, bool))
        return following

    def run_apart(self) -> int:
        """Run one segment on those who stand there; where all do so afterwards, its number."""
        ready = self.ready
        at = int(ready.min())
        if at == NOWHERE:
            return self.finished()
        if self.turn // TURNS % 2:
            runnable = np.nonzero(ready != NOWHERE)[0]
            at = int(ready[runnable[np.argmin(self.waited[runnable])]])
        mask = ready == at
        for step in self.steps[at]:
            step(mask)
        self.waited[mask] = self.turn
        self.instructions += self.lengths[at] * int(np.count_nonzero(mask))
        self.ends[at].apart(mask)
        low = int(ready.min())
        return low if low != NOWHERE and low == int(ready.max()) else PARTED

    def finished(self) -> int:
        """Nobody can run: fine if nobody waits."""
        waiting = np.nonzero(self.state == BLOCKED)[0]
        if not waiting.size:
            return DONE
        lines = ["no thread can go on:"]
        first = None
        for at in np.unique(self.pc[waiting]):
            threads = waiting[self.pc[waiting] == at]
            end = self.program.segments[at].end
            first = first or end
            assert end is not None
            who = f"{len(threads)} threads, among them {self.where(int(threads[0]))}"
            lines.append(f"{who}, wait at PTX line {end.line}: {end.text}{self.ends[at].lacking(int(threads[0]))}")
        gone = int(np.count_nonzero((self.state == EXITED) & self.exists))
        lines.append(f"{gone} threads have exited")
        raise Deadlock("\n".join(lines), first)
