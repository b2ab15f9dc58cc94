"""CTA barriers and cluster barriers: the threads that wait at each, and their release."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..support.quantities import counted
from .errors import BarrierError
from .ptx import Instruction
from .races import Races
from .threads import BLOCKED, Threads
from .types import Array

__all__ = ["BARRIERS", "Barriers", "Clusters", "Reduction"]

BARRIERS = 16


class Reduction(NamedTuple):
    """`bar.red`: the operation, the predicate that each thread contributes, and the register of the result."""

    operation: str
    value: Callable[[], Array]
    result: Array

    def reduce(self, m: Threads, released: Array, said: Array, here: Array) -> None:
        """The result of `bar.red` for those `here`, from the predicates of all threads that the barrier releases."""
        per_cta: Array = (said & released & m.exists).reshape(m.ctas, -1)
        if self.operation == "popc":
            out: Array = per_cta.sum(axis=1)
        elif self.operation == "or":
            out = np.any(per_cta, axis=1)
        else:
            out = np.all(per_cta | ~(released & m.exists).reshape(m.ctas, -1), axis=1)
        self.result[here] = out[m.cta[here]]


class Barriers:
    """The threads that wait at each barrier of each CTA."""

    def __init__(self, machine: Threads, races: Races | None) -> None:
        self.machine, self.races = machine, races
        #: The reductions of the program's barriers, by segment.
        self.reductions: dict[int, Reduction] = {}
        self.passed = 0
        self.id = np.full(machine.threads, -1)
        self.arrived = np.zeros((machine.ctas, BARRIERS), np.int64)
        #: Whether the instructions that use a barrier give a thread count, by its index.
        self.counted: dict[int, bool] = {}

    def reset(self) -> None:
        self.id.fill(-1)
        self.arrived.fill(0)
        self.counted.clear()

    def check_counted(self, places: Array, counted: bool, i: Instruction) -> None:
        """BarrierError if some uses of a barrier give a thread count and others do not.

        To hardware no count means the threads that have not exited, which is another number as soon as one has.
        """
        for place in places.tolist():
            if self.counted.setdefault(place, counted) != counted:
                cta, id_ = divmod(place, BARRIERS)
                barrier = f"barrier {id_} of CTA {self.machine.cta_name(cta)}"
                raise BarrierError(f"{barrier} has a thread count in some of the instructions that use it only", i)

    @property
    def pending(self) -> bool:
        """Whether a thread has arrived without waiting."""
        return bool(self.arrived.any())

    def arrive(self, mask: Array, ids: Array) -> None:
        m = self.machine
        np.add.at(self.arrived, (m.cta[mask], ids[mask]), 1)
        if self.races is not None:
            self.races.arrive(mask, m.cta * BARRIERS + ids)

    def wait(self, mask: Array, ids: Array) -> None:
        self.id[mask] = ids[mask]

    def come(self, cta: int, id_: int) -> int:
        m = self.machine
        waiting = (m.state == BLOCKED) & (self.id == id_) & (m.cta == cta)
        return int(np.count_nonzero(waiting)) + int(self.arrived[cta, id_])

    def perhaps_release(self, cta: int, id_: int, wanted: int, aligned: bool, i: Instruction) -> None:
        """Release the threads at a barrier if all that it waits for have arrived."""
        m = self.machine
        come = self.come(cta, id_)
        if come < wanted:
            return
        waiting = (m.state == BLOCKED) & (self.id == id_) & (m.cta == cta)
        if come > wanted:
            threads = counted(come, "thread")
            text = f"{threads} arrived at barrier {id_} of CTA {m.cta_name(cta)}, which waits for {wanted}"
            raise BarrierError(text, i)
        places = m.pc[waiting]
        if aligned and len(np.unique(places)) > 1:
            warps = m.thread[waiting] >> 5
            if len(np.unique(np.stack([warps, places]), axis=1).T) > len(np.unique(warps)):
                raise BarrierError("the threads of one warp arrived at this barrier at different instructions", i)
        self.passed += 1
        self.arrived[cta, id_] = 0
        self.counted.pop(cta * BARRIERS + id_, None)
        self.id[waiting] = -1
        self.reduce(waiting, np.unique(places))
        if self.races is not None:
            self.races.release_barrier(waiting, cta * BARRIERS + id_)
        m.move(waiting, m.pc[waiting] + 1)

    def reduce(self, waiting: Array, places: Array) -> None:
        """Write the results of `bar.red` to the threads that it releases, whatever their program counter."""
        m = self.machine
        found = [(self.reductions[at], waiting & (m.pc == at)) for at in places.tolist() if at in self.reductions]
        said = np.zeros(m.threads, bool)
        for reduction, here in found:
            said[here] = reduction.value()[here]
        for reduction, here in found:
            reduction.reduce(m, waiting, said, here)


class Clusters:
    """The one barrier of each cluster: a phase ends when all its threads have arrived or exited."""

    def __init__(self, machine: Threads, races: Races | None) -> None:
        self.machine, self.races = machine, races
        #: The first place of cluster barriers in `Races.arrivals`; those of CTA barriers come before.
        self.first_place = machine.ctas * BARRIERS
        self.size = machine.padded * machine.cluster
        self.of = machine.thread // self.size
        self.phase = np.zeros(machine.threads // self.size, np.int64)
        self.arrived = np.zeros(machine.threads, bool)
        #: The phase each thread arrived in and has not waited for, or -1.
        self.owed = np.full(machine.threads, -1)

    def reset(self) -> None:
        self.phase.fill(0)
        self.arrived.fill(False)
        self.owed.fill(-1)

    def arrive(self, mask: Array, i: Instruction) -> None:
        m = self.machine
        twice = mask & (self.owed >= 0)
        if twice.any():
            raise m.error(BarrierError, "arrives a second time without having waited", i, int(np.argmax(twice)))
        self.arrived |= mask
        self.owed[mask] = self.phase[self.of[mask]]
        if self.races is not None:
            self.races.arrive(mask, self.places())
        self.advance()

    def places(self, ahead: int = 0) -> Array:
        """The key in `Races.arrivals` of each thread's cluster in this phase, or `ahead` phases later."""
        return self.first_place + 2 * self.of + (self.phase[self.of] + ahead) % 2

    def advance(self) -> None:
        """Complete the phases at which all threads have arrived, and wake those that wait."""
        m = self.machine
        ended = np.all((self.arrived | ~m.alive).reshape(-1, self.size), axis=1)
        ended = ended & np.any(self.arrived.reshape(-1, self.size), axis=1)
        if ended.any():
            self.phase[ended] += 1
            if self.races is not None:
                for cluster in np.nonzero(ended)[0]:  # who arrives from now on leaves knowledge of its own
                    self.races.arrivals.pop(int(self.places()[cluster * self.size]), None)
            self.arrived[ended[self.of]] = False
            m.wake()

    def open(self, mask: Array, i: Instruction) -> Array:
        """Which threads of the mask may pass, as the phase that they arrived in has ended."""
        m = self.machine
        early = mask & (self.owed < 0)
        if early.any():
            raise m.error(BarrierError, "waits without having arrived", i, int(np.argmax(early)))
        go = mask & (self.owed < self.phase[self.of])
        self.owed[go] = -1
        if self.races is not None and go.any():
            for cluster in np.unique(self.of[go]):
                here = int(self.places(-1)[cluster * self.size])
                self.races.release_barrier(go & (self.of == cluster), here, keep=True)
        return go
