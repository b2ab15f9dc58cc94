"""Execute the waves of a batch: those at the same instruction together, until branches or barriers part them."""

from __future__ import annotations

import numpy as np

from ..errors import BarrierError, Deadlock, RunawayKernel
from ..types import Array
from .assembly import INSTRUCTION_BYTES
from .program import CODE_BASE, Program, Segment
from .shape import Shape
from .state import NOWHERE, State
from .waits import Flight

__all__ = ["Machine"]

#: After so many segments in a row the waves that waited longest run, so that waves may wait for each other.
FAIRNESS = 256


class Machine(State):
    """The waves of a batch of workgroups and their progress."""

    def __init__(self, program: Program, shape: Shape, lds: int, races: bool) -> None:
        granule = program.lds_granule if races else 0
        super().__init__(shape, program.vectors, program.accumulators, lds, program.scratch_size, granule)
        self.program = program
        self.staggered = program.sets_priorities
        self.max_steps = 1 << 62
        self.executed = self.barriers = 0
        self.flights: list[Flight] = [program.flights.start] * shape.waves
        self.waiting = np.zeros(shape.waves, bool)
        self.resume = np.zeros(shape.waves, np.int64)
        self.last_run = np.zeros(shape.waves, np.int64)
        self.turn = 0

    def reset(self) -> None:
        super().reset()
        self.flights = [self.program.flights.start] * self.shape.waves
        self.waiting[:] = False
        self.last_run[:] = 0
        self.turn = 0
        self.pc[:] = self.program.entry
        self.flush32 = self.program.number("float_denorm_mode_32", 3) == 0
        self.saturate = self.program.number("fp16_overflow") == 1
        self.flush64 = self.program.number("float_denorm_mode_16_64", 3) == 0

    def run(self) -> None:
        """Execute until all waves have ended."""
        with np.errstate(all="ignore"):
            while True:
                at = self.chosen()
                if at is None:
                    if self.waiting.any():
                        raise self.deadlock()
                    return
                waves = np.nonzero(self.pc == at)[0]
                self.turn += 1
                if self.turn > self.max_steps:
                    text = f"{self.shape.name} did not end within {self.max_steps} segments of code"
                    raise RunawayKernel(text, self.program.module.instructions[at])
                self.last_run[waves] = self.turn
                self.execute(waves, self.program.segment(at))

    def chosen(self) -> int | None:
        """Where to go on: at the waves that are furthest behind, now and then at those that waited longest."""
        if self.turn % FAIRNESS == FAIRNESS - 1:
            runs = np.where(self.pc == NOWHERE, NOWHERE, self.last_run)
            at = int(self.pc[np.argmin(runs)])
        else:
            at = int(self.pc.min())
        return None if at == NOWHERE else at

    def execute(self, waves: Array, segment: Segment) -> None:
        self.check_waits(waves, segment)
        self.select(waves)
        for i, step in segment.steps:
            self.instruction = i
            step(self)
        self.executed += len(waves) * (segment.last - segment.first)
        if segment.end == "next":
            self.pc[waves] = segment.last
        elif segment.end == "branch":
            self.branch(waves, segment)
        elif segment.end == "barrier":
            self.arrive(waves, segment)
        else:
            self.pc[waves] = NOWHERE
            self.release(waves)

    def check_waits(self, waves: Array, segment: Segment) -> None:
        """Advance the flights of the waves over the segment."""
        known: dict[int, Flight] = {}
        flights = self.flights
        for wave in waves.tolist():
            flight = flights[wave]
            after = known.get(id(flight))
            if after is None:
                after = self.program.flights.after(flight, segment.first, segment.checks)
                known[id(flight)] = after
            flights[wave] = after

    def branch(self, waves: Array, segment: Segment) -> None:
        if segment.link is not None:
            following = CODE_BASE + segment.last * INSTRUCTION_BYTES
            self.scalars[segment.link, waves] = following & 0xFFFFFFFF
            self.scalars[segment.link + 1, waves] = following >> 32
        if segment.register is not None:
            low = self.scalars[segment.register, waves].astype(np.int64)
            high = self.scalars[segment.register + 1, waves].astype(np.int64)
            self.pc[waves] = ((low | high << 32) - CODE_BASE) // INSTRUCTION_BYTES
        elif segment.condition is None:
            self.pc[waves] = segment.target
        else:
            self.pc[waves] = np.where(segment.condition(self), segment.target, segment.last)

    # -- barriers ------------------------------------------------------------------------------------------------------

    def arrive(self, waves: Array, segment: Segment) -> None:
        """Waves wait at a barrier.

        Loads from memory to LDS that are in flight may arrive after it. Accesses of LDS itself need no wait: those of
        all waves of a workgroup happen in one order, that of their issue ("Memory Model" of LLVM's user guide).
        """
        self.instruction = segment.checks[-1].instruction
        if self.races is not None:
            for flight in {id(f): f for f in (self.flights[w] for w in waves.tolist())}.values():
                mine = np.array([w for w in waves.tolist() if self.flights[w] is flight])
                for event in flight.pending():
                    if event.lds and event.order != "lds":
                        self.races.carry_over(event.instruction, mine)
        self.waiting[waves] = True
        self.resume[waves] = segment.last
        self.pc[waves] = NOWHERE
        self.release(waves)

    def release(self, waves: Array) -> None:
        """Let workgroups go on all of whose waves that have not ended wait at a barrier.

        Hardware counts arrivals at any barrier. Waves at different ones are nevertheless an error, but for programs
        that set priorities of waves: they let waves run one barrier behind others.
        """
        per = self.shape.waves_per_group
        for group in np.unique(self.shape.group_of_wave[waves]):
            mine = slice(group * per, (group + 1) * per)
            waiting = self.waiting[mine]
            if not waiting.any() or not (waiting | self.ended[mine]).all():
                continue
            if not self.staggered and len(set(self.resume[mine][waiting].tolist())) > 1:
                raise self.error(BarrierError, "waves of the workgroup wait at different barriers", int(waves[0]))
            self.pc[mine] = np.where(waiting, self.resume[mine], self.pc[mine])
            self.waiting[mine] = False
            self.barriers += 1
            if self.races is not None:
                self.races.time[group] += 1

    @property
    def ended(self) -> Array:
        """The waves that have ended."""
        return (self.pc == NOWHERE) & ~self.waiting

    def deadlock(self) -> Deadlock:
        wave = int(np.argmax(self.waiting))
        at = int(self.resume[wave]) - 1
        text = f"{self.shape.name}: {self.shape.where(wave)} waits at a barrier that others do not reach"
        return Deadlock(text, self.program.module.instructions[at])
