"""The threads of some blocks, running together: registers, memory, and who runs next.

Every register is an array over the threads of all blocks of a batch, each block padded to whole warps. A *step* is a
function of a mask (`True` for all threads, or an array of booleans) that executes one instruction on the arrays.
While all threads stand at one segment they run without masks. When they part, the lowest segment runs first, so that
those ahead wait for those behind where their ways join; from time to time those that have waited longest get a turn,
as a thread that spins on a lock needs the one that holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .access import Piece
from .ends import BARRIERS, DONE, ENDS_OF, PARTED, Barriers, Clusters, End, Fall
from .errors import Deadlock, EmulationError, RunawayKernel
from .global_races import GlobalRaces
from .memory import Memory, Store
from .operands import Operands
from .program import Program
from .ptx import Instruction, Register
from .published import PublishedMaps
from .races import Races
from .registry import find
from .types import UNSIGNED, Array
from .written import Written

__all__ = ["Machine", "Mask", "Step"]

Mask = Any  # True, or an array of booleans over the threads
Step = Callable[[Mask], None]

WARP = 32
#: The program counter of threads that do not run: they wait, or have exited.
NOWHERE = np.iinfo(np.int32).max
RUNNING, BLOCKED, EXITED = 0, 1, 2
#: Turns in which the lowest segment runs, before those that waited longest get as many.
TURNS = 128
#: What a register holds before the program writes it: no zero, so that nothing comes to rely on one.
POISON = 0xA5
SHARED_POISON = 0xFF  # not a number in every floating-point format


class Machine(Operands):
    """`ctas` blocks of `block` threads for one program. `run` executes them after `reset` has said which they are."""

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
        self.program = program
        self.block, self.ctas, self.cluster_shape = block, ctas, cluster
        self.cluster = cluster[0] * cluster[1] * cluster[2]
        self.block_threads = block[0] * block[1] * block[2]
        self.padded = -(-self.block_threads // WARP) * WARP
        self.threads = self.padded * ctas
        self.warps = self.threads // WARP
        self.thread = np.arange(self.threads)
        self.linear = self.thread % self.padded
        self.cta = self.thread // self.padded
        self.exists = self.linear < self.block_threads
        self.lane = self.thread % WARP
        self.memory = Memory()
        self.prints: list[str] = []
        self.cta_numbers = np.zeros(ctas, np.int64)
        self.counts = {"instructions": 0, "barriers": 0}
        self.max_steps = 0
        super().__init__(program, self.threads)
        self.set_up_memory(shared_bytes)
        self.races: Races | None = Races(self, lockstep) if races else None
        self.written = Written(self) if uninitialized else None
        self.global_races: GlobalRaces | None = None  # those of a launch
        self.barriers, self.clusters = Barriers(self), Clusters(self)
        self.cluster_place = ctas * BARRIERS
        self.pc = np.zeros(self.threads, np.int32)
        self.ready = np.zeros(self.threads, np.int32)
        self.state = np.zeros(self.threads, np.int8)
        self.objects: set[int] = set()  # the places of mbarriers
        self.maps = PublishedMaps(self)
        self.resettable: list[Callable[[], None]] = [self.barriers.reset, self.clusters.reset, self.maps.reset]
        self.resettable.append(self.objects.clear)
        self.registers: Any = None  # see `instructions.registers`
        self.steps: list[list[Step]] = []
        self.ends: list[End] = []
        for number, segment in enumerate(program.segments):
            self.steps.append([self.step(i) for i in segment.instructions])
            kind = Fall if segment.end is None else ENDS_OF[segment.end.opcode]
            self.ends.append(kind(self, number, segment.end))
        self.wakes = np.array([end.wakes for end in self.ends])
        self.lengths = [len(s.instructions) + (s.end is not None) for s in program.segments]

    def set_up_memory(self, shared_bytes: int) -> None:
        program = self.program
        self.shared_size = program.shared_size + shared_bytes
        self.shared_stride = max(-(-self.shared_size // 128) * 128, 128)
        self.shared = Store(np.empty(self.ctas * self.shared_stride, np.uint8), 0, "shared memory")
        self.shared_base = self.cta.astype(np.int64) * self.shared_stride
        self.local = Store(np.empty(self.threads * program.local_size, np.uint8), 0, "local memory")
        self.local_base = self.thread.astype(np.int64) * program.local_size
        self.param = Store(np.zeros(max(program.param_size, 1) + 16, np.uint8), 0, "parameters", writable=False)
        self.module_arrays = {v.name: np.zeros(max(v.size, 1) + 15, np.uint8) for v in program.globals}

    @property
    def footprint(self) -> int:
        """About how many bytes it takes."""
        bytes_ = sum(row.nbytes for row in self.rows.values()) + self.shared.raw.nbytes + self.local.raw.nbytes
        if self.races is not None:
            bytes_ += self.races.read_time.nbytes * 2 + self.shared.raw.nbytes
        return bytes_

    # -- from instructions to steps --------------------------------------------------------------------------------

    def step(self, i: Instruction) -> Step:
        """The step of an instruction, under its guard."""
        step = self.watched(i)
        return step if i.guard is None else self.guarded(step, i.guard)

    def watched(self, i: Instruction) -> Step:
        """The step of an instruction without its guard; checks look at what it does to registers."""
        step = find(i)(self, i)
        if self.races is None or i.opcode == "wgmma":
            return step
        return self.races.asynchrony.registers.watched(step, i)

    def guarded(self, step: Step, guard: Register) -> Step:
        row, negated = self.rows[guard.name], guard.negated

        def run(mask: Mask) -> None:
            chosen = ~row if negated else row.copy()
            if mask is not True:
                chosen &= mask
            elif chosen.all():
                return step(True)
            if chosen.any():
                step(chosen)
            return None

        return run

    def shared_memory_read(self, piece: Piece, size: int, i: Instruction, collective: bool = False) -> None:
        """Threads read shared memory: the checks that are on look at it."""
        if self.races is not None:
            self.races.read(piece, size, i, collective)
        if self.written is not None:
            self.written.check(piece, size, i)

    def shared_memory_changes(
        self, piece: Piece, view: Array, at: Array, size: int, i: Instruction, atomic: bool = True
    ) -> None:
        """Threads change shared memory in place, where that is what they change."""
        if piece.store is not self.shared:
            return
        if self.races is not None:
            self.races.write(piece, view, at, [], size, i, atomic=atomic)
        if self.written is not None:
            if atomic:
                self.written.check(piece, size, i)
            self.written.mark(piece, size)

    def bulk_write(self, at: Array, words: Array, thread: int, report: int, i: Instruction) -> None:
        """A bulk copy that a thread started puts pairs of words at some offsets of shared memory, and reports that."""
        _, view = self.shared.view(UNSIGNED[64])
        piece = Piece(self.shared, at, np.full(len(at), thread))
        if self.races is not None:
            self.races.asynchrony.land(self.races.spread(piece, 16)[0], thread, report, i)
        if self.written is not None:
            self.written.mark(piece, 16)
        view.reshape(-1, 2)[at >> 4] = words

    def bulk_read(self, at: Array, thread: int, i: Instruction) -> Array:
        """The pairs of words that a bulk copy of a thread takes from some offsets of shared memory."""
        piece = Piece(self.shared, at, np.full(len(at), thread))
        if self.races is not None:
            self.races.asynchrony.begin_store(self.races.spread(piece, 16)[0], thread, i)
        if self.written is not None:
            self.written.check(piece, 16, i)
        _, view = self.shared.view(UNSIGNED[64])
        return view.reshape(-1, 2)[at >> 4]

    def mask_of_warps(self, warps: Array | slice) -> Array:
        """The threads of some warps."""
        mask = np.zeros((self.warps, WARP), bool)
        mask[warps] = True
        return mask.ravel()

    def lanes(self, mask: Mask) -> Array:
        """The numbers of the threads in a mask."""
        return self.thread if mask is True else np.nonzero(mask)[0]

    def where(self, thread: int) -> str:
        """A thread in words."""
        linear = int(self.linear[thread])
        x, y, z = self.block[0], self.block[1], self.block[2]
        name = f"{linear}" if y == z == 1 else f"({linear % x}, {linear // x % y}, {linear // x // y})"
        return f"thread {name} of block {self.cta_name(int(self.cta[thread]))}"

    def cta_coordinates(self, cta: int) -> tuple[int, int, int]:
        return self.block_coordinates(int(self.cta_numbers[cta]))

    def block_coordinates(self, number: int) -> tuple[int, int, int]:
        """Where the block with a linear number is in the grid."""
        gx, gy, _ = self.grid
        return number % gx, number // gx % gy, number // gx // gy

    def cta_name(self, cta: int) -> str:
        return self.block_name(int(self.cta_numbers[cta]))

    def block_name(self, number: int) -> str:
        """The block with a linear number, in words."""
        x, y, z = self.block_coordinates(number)
        return f"{x}" if self.grid[1:] == (1, 1) else f"({x}, {y}, {z})"

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
        if self.races is not None:
            self.races.asynchrony.all_exited()

    def run_together(self, at: int) -> int:
        """Run the segment `at` on all threads; the next one, PARTED or DONE."""
        for step in self.steps[at]:
            step(True)
        self.counts["instructions"] += self.lengths[at] * self.threads
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
        self.counts["instructions"] += self.lengths[at] * int(np.count_nonzero(mask))
        self.ends[at].apart(mask)
        low = int(ready.min())
        return low if low != NOWHERE and low == int(ready.max()) else PARTED

    def move(self, mask: Array, to: Any) -> None:
        """Threads go on at segment `to` (a number, or one for each thread of the mask)."""
        self.pc[mask] = to
        self.ready[mask] = to
        self.state[mask] = RUNNING

    def block_at(self, mask: Array, at: int) -> None:
        """Threads wait at segment `at`."""
        self.pc[mask] = at
        self.ready[mask] = NOWHERE
        self.state[mask] = BLOCKED

    def exit(self, mask: Array) -> None:
        """Threads are done; those who waited for them look again."""
        self.ready[mask] = NOWHERE
        self.state[mask] = EXITED
        self.clusters.advance()
        self.wake()

    def wake(self) -> None:
        """Threads that wait for others than at a block's barrier look again whether they may go on."""
        again = (self.state == BLOCKED) & self.wakes[self.pc]
        self.ready[again] = self.pc[again]
        self.state[again] = RUNNING

    @property
    def alive(self) -> Array:
        return self.state != EXITED

    def ended(self, ctas: Array) -> Array:
        """Which of some blocks have ended: nothing may reach their shared memory any more."""
        return ~self.alive.reshape(self.ctas, -1).any(axis=1)[ctas]  # type: ignore[no-any-return]

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

    def error(self, kind: type[EmulationError], message: str, i: Instruction, thread: int) -> EmulationError:
        """An error of a thread at an instruction."""
        return kind(f"{self.program.name}: {self.where(thread)}: {message}", i)
