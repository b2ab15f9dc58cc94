"""Hazards of asynchronous operations in shared memory: copies by the copy engine, cp.async, wgmma's operands.

The emulator executes these at once; here is kept when they would have come to an end.

- What the copy engine *writes* counts as written by the mbarrier that it reports to, in the phase that runs. Warps
  learn of it as they learn of what other warps did: by waiting for that phase, or by meeting one that has. So reading
  earlier, or having waited for another mbarrier, is a race.
- What it or wgmma *reads* is being read until the thread (or warp) has waited for the group that the operation was
  committed in. Writing it before is an error; afterwards it counts as read by that thread at that moment.
- Both belong to the *async proxy*. They see what threads have written only behind a `fence.proxy.async` somewhere on
  the way from one to the other: each warp remembers how much of what it knows has passed one.

Registers that wgmma works on are in `in_flight`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .errors import AsynchronyError, DataRace
from .geometry import Mask
from .groups import Claims, Groups
from .in_flight import InFlight
from .ptx import Instruction
from .races import Races
from .types import Array

__all__ = ["Asynchrony"]

#: What is kept of a write: 32 bits of time, 16 of the warp, and the number of the instruction above.
_WARP, _NUMBER = 32, 48
_TIME, _WARPS = (1 << _WARP) - 1, (1 << (_NUMBER - _WARP)) - 1


class Landing(NamedTuple):
    """A box that the copy engine has written: known to those whose clock in `column` has come to `time`."""

    place: Array
    column: int
    time: int
    first_warp: int
    writer: int


class Phases:
    """What those know who came to an mbarrier, by phase; who made it, and when each warp last used it."""

    def __init__(self, number: int, peers: int) -> None:
        self.number = number
        self.maker, self.made = -1, 0
        self.by: Instruction | None = None
        self.used = np.zeros(peers, np.int32)
        self.ended = 0
        self.now: Array | None = None
        self.before: Array | None = None


class Asynchrony:
    """What the race check of a machine keeps for asynchronous operations."""

    def __init__(self, races: Races) -> None:
        self.races, self.machine = races, races.machine
        races.asynchrony = self
        opcodes = {i.name for s in self.machine.program.segments for i in (*s.instructions, s.end) if i is not None}
        #: Whether the program uses the async proxy at all.
        self.used = any(name.startswith("wgmma.mma") or ".bulk" in name for name in opcodes)
        places = len(races.writer)
        #: The last write of each place by a thread; 0 where the copy engine came later.
        self.by_threads = np.zeros(places if self.used else 0, np.int64)
        self.columns = 0
        self.phases: dict[int, Phases] = {}
        self.landings: dict[tuple[int, int], Landing] = {}
        self.copies = Groups(self.machine.threads)
        self.bulk = Claims(self.machine.threads, places if self.used else 0)
        self.products = Claims(self.machine.warps, places if self.used else 0)
        self.registers = InFlight(self.machine, self.products.committed)

    def reset(self) -> None:
        if self.used:
            self.by_threads.fill(0)
        self.phases.clear()
        self.landings.clear()
        for groups in (self.copies, self.bulk, self.products):
            groups.reset()
        self.registers.reset()
        self.races.clock = np.zeros((2, self.machine.warps, self.races.peers + self.columns), np.int32)

    # -- what threads write -------------------------------------------------------------------------------------------

    def note_write(self, place: Array, warp: Array, number: int | Array, time: Array | int) -> None:
        """Threads of some warps write at a time, by the instruction of a number."""
        if self.used:
            self.by_threads[place] = warp.astype(np.int64) << _WARP | time | np.asarray(number, np.int64) << _NUMBER

    def fence(self, mask: Mask) -> None:
        """fence.proxy.async: what the threads know, and did, is ordered before what the async proxy does next."""
        races = self.races
        warps = np.unique(self.machine.lanes(mask) >> 5)
        races.clock[1, warps] = races.clock[0, warps]
        races.clock[1, warps, warps % races.peers] = races.time[warps]
        races.advance(warps)

    def check_fence(self, place: Array, fenced: Array, thread: int, i: Instruction, doing: str) -> None:
        """Complain if the async proxy comes to what a thread wrote, and no fence lies between.

        `fenced` has the clocks of what the warp (or all that take part) has fenced.
        """
        stamp = self.by_threads[place]
        writer = stamp >> _WARP & _WARPS
        late = (stamp & _TIME) > fenced[writer % self.races.peers]
        if late.any():
            n = int(np.argmax(late))
            m, by = self.machine, self.races.instructions[int(stamp[n]) >> _NUMBER]
            text = f"{doing} byte {self.offset(place[n])} of shared memory, which the warp of "
            text += f"{m.where(int(writer[n]) * 32)} wrote; no fence.proxy.async lies between"
            raise AsynchronyError(f"{m.program.name}: {m.where(thread)} {text}", i, by)

    def offset(self, place: int) -> int:
        return int(place) * self.races.granule % self.machine.shared_stride

    # -- what asynchronous operations read ----------------------------------------------------------------------------

    def begin_store(self, place: Array, thread: int, i: Instruction) -> None:
        """A bulk copy of a thread reads, until its group is waited for."""
        self.races.check_read(place, np.full(len(place), thread), i)
        self.check_fence(place, self.races.clock[1, thread >> 5], thread, i, "reads asynchronously")
        self.bulk.begin(place, np.array([thread]), i)

    def end_stores(self, threads: Array | slice, allowed: int) -> None:
        """Threads have waited for bulk groups: what was read counts as read by them now."""
        for claim in self.bulk.wait(self.bulk.limits(threads, allowed)):
            self.races.note_reads(claim.place, claim.units, claim.i)

    def begin_product(self, place: Array, warps: Array, i: Instruction) -> None:
        """A product of some warps reads, until each has waited for the group."""
        known = self.races.clock[:, warps].min(axis=1)
        self.races.check_shared_read(place, known[0], int(warps[0]) * 32, i)
        self.check_fence(place, known[1], int(warps[0]) * 32, i, "reads asynchronously")
        self.products.begin(place, warps, i)

    def end_products(self, warps: Array | slice, allowed: int) -> None:
        """Warps have waited for groups of wgmma."""
        limits = self.products.limits(warps, allowed)
        self.registers.wait(limits)
        ended = False
        for claim in self.products.wait(limits):
            self.races.note_reads(claim.place, claim.units * 32, claim.i)
            ended = True
        if ended:
            self.races.warps_met(self.machine.mask_of_warps(warps))

    def check_readers(self, place: Array, thread: Array, i: Instruction) -> None:
        """Complain if an asynchronous operation still reads what is written."""
        for claims, per_unit in ((self.bulk, 1), (self.products, 32)):
            found = claims.busy(place)
            if found is not None:
                claim, n = found
                m = self.machine
                text = f"writes byte {self.offset(place[n])} of shared memory, which an operation of "
                text += f"{m.where(int(claim.units[0]) * per_unit)} reads that has not been waited for"
                raise AsynchronyError(f"{m.program.name}: {m.where(int(thread[n]))} {text}", i, claim.i)

    def end_copies(self, threads: Array | slice, allowed: int | None) -> None:
        """Threads have waited for groups of cp.async."""
        for place, thread in self.copies.wait(threads, allowed):
            self.races.end_copy(place, thread)

    # -- what the copy engine writes ----------------------------------------------------------------------------------

    def column_of(self, phases: Phases) -> int:
        if phases.number >= self.columns:
            more = max(16, self.columns)
            self.races.add_columns(more)
            self.columns += more
        return self.races.peers + phases.number

    def land(self, place: Array, thread: int, report: int, i: Instruction) -> None:
        """The copy engine writes for a thread, and reports to the mbarrier at `report`."""
        races, m = self.races, self.machine
        threads = np.full(len(place), thread)
        races.check_copy(place, threads, i)
        self.check_fence(place, races.clock[1, thread >> 5], thread, i, "has the copy engine write")
        phases = self.at(report)
        column = self.column_of(phases)
        writer = m.threads + 32 * phases.number
        races.enter_copy(place, writer, phases.ended + 1, i)
        self.by_threads[place] = 0
        first = thread // 32 // races.peers * races.peers
        self.landings[writer, int(place[0])] = Landing(place, column, phases.ended + 1, first, writer)

    def everybody_met(self) -> None:
        """Boxes that all warps know of now are like what was written long ago."""
        races = self.races
        if self.machine.cluster > 1:
            return
        for key, box in list(self.landings.items()):
            if (races.clock[0, box.first_warp : box.first_warp + races.peers, box.column] >= box.time).all():
                mine = box.place[races.writer[box.place] == box.writer]
                races.write_epoch[mine] = np.minimum(races.write_epoch[mine], races.epoch - 1)
                del self.landings[key]

    def name(self, writer: int) -> str:
        """The mbarrier that stands for the copies that report to it."""
        number = (writer - self.machine.threads) // 32
        place = next((place for place, p in self.phases.items() if p.number == number), 0)
        return f"the mbarrier at byte {place % self.machine.shared_stride}"

    def all_exited(self) -> None:
        """Complain of what still goes on in the shared memory of blocks that are gone."""
        m = self.machine
        for claims, per_unit in ((self.bulk, 1), (self.products, 32)):
            if claims.running:
                claim = claims.running[0]
                who = m.where(int(claim.units[0]) * per_unit)
                text = f"{who} exits without having waited for an operation that reads shared memory"
                raise AsynchronyError(f"{m.program.name}: {text}", claim.i)
        for box in self.landings.values():
            knows = self.races.clock[0, box.first_warp : box.first_warp + self.races.peers, box.column] >= box.time
            mine = self.races.writer[box.place] == box.writer
            if mine.any() and not knows.any():
                i = self.races.instructions[int(self.races.write_at[box.place[mine][0]])]
                block = f"block {m.cta_name(box.first_warp * 32 // m.padded)}"
                text = f"all threads of {block} exit, and none has waited for {self.name(box.writer)}"
                raise AsynchronyError(f"{m.program.name}: {text}, which a copy reports to", i)

    # -- mbarriers ----------------------------------------------------------------------------------------------------

    def at(self, place: int) -> Phases:
        """The phases of the mbarrier at a byte of all shared memory. Those at one place of every cluster share a
        number."""
        found = self.phases.get(place)
        if found is None:
            size = self.machine.cluster * self.machine.shared_stride
            same = (p.number for at, p in self.phases.items() if at % size == place % size)
            fresh = max((p.number for p in self.phases.values()), default=-1) + 1
            found = self.phases[place] = Phases(next(same, fresh), self.races.peers)
        return found

    def make(self, place: int, thread: int, i: Instruction) -> None:
        """A thread initializes or invalidates an mbarrier: those who used it before must have done so."""
        phases, races, m = self.at(place), self.races, self.machine
        warp = thread >> 5
        late = phases.used > races.clock[0, warp, : races.peers]
        late[warp % races.peers] = False
        if late.any():
            other = (warp // races.peers * races.peers + int(np.argmax(late))) * 32
            text = f"{m.where(thread)} makes or ends an mbarrier at byte {place % m.shared_stride} that the warp of "
            text += f"{m.where(other)} used before; no barrier orders the two"
            raise DataRace(f"{m.program.name}: {text}", i, phases.by)
        phases.maker, phases.made, phases.now = thread, int(races.time[warp]), None
        self.use(place, np.array([warp]), i)

    def use(self, place: int, warps: Array, i: Instruction) -> None:
        """Threads of some warps come to an mbarrier: it must have been made before."""
        phases, races, m = self.at(place), self.races, self.machine
        phases.used[warps % races.peers] = races.time[warps]
        phases.by = i
        maker = phases.maker >> 5
        unseen = (races.clock[0, warps, maker % races.peers] < phases.made) & (warps != maker)
        if unseen.any():
            thread = int(warps[np.argmax(unseen)]) * 32
            text = f"the warp of {m.where(thread)} uses an mbarrier at byte {place % m.shared_stride} that "
            text += f"{m.where(phases.maker)} initializes; no barrier orders the two"
            raise DataRace(f"{m.program.name}: {text}", i)

    def arrive(self, place: int, warps: Array) -> None:
        """Threads of some warps leave what they know at an mbarrier."""
        phases = self.at(place)
        known = self.races.knowledge(warps)
        phases.now = known if phases.now is None else np.maximum(self.races.widened(phases.now), known)
        self.races.advance(warps)

    def bytes_come(self, place: int) -> None:
        """A copy reports to an mbarrier that it has come."""
        phases = self.at(place)
        column = self.column_of(phases)
        known = self.races.clock[:, 0] * 0 if phases.now is None else self.races.widened(phases.now)
        known[0, column] = phases.ended + 1
        phases.now = known

    def phase_ends(self, place: int) -> None:
        """Who waits from now on learns what those knew who came in this phase."""
        phases = self.at(place)
        if phases.now is not None:
            known = phases.now
            phases.before = known if phases.before is None else np.maximum(self.races.widened(phases.before), known)
        phases.now = None
        phases.ended += 1

    def wait(self, place: int, warps: Array) -> None:
        """Threads of some warps have waited for the end of a phase."""
        phases = self.phases.get(place)
        if phases is not None and phases.before is not None:
            self.races.learn(warps, phases.before)
