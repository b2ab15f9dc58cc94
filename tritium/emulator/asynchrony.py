"""Hazards of asynchronous operations in shared memory: TMA, bulk copies, cp.async, and the operands of wgmma.

The emulator executes these at once; this module tracks when they would complete.

- A TMA *write* counts as a write by the mbarrier that the copy signals, in the current phase. Warps observe it by
  waiting for that phase, or by synchronizing with a warp that has. So reading earlier, or after waiting for another
  mbarrier, is a race.
- A *read* by TMA or wgmma lasts until the thread (or warp) has waited for the group that the operation was committed
  in. Writing the location before is an error; the wait counts as a read by that thread at that moment.
- Both belong to the *async proxy*. They observe writes of threads only after a `fence.proxy.async` between the two: for
  each warp, the part of its vector clock that is fenced is kept.

Hazards of the registers of wgmma are in `wgmma_hazards`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .errors import AsynchronyError, DataRace
from .errors import place as position_of
from .geometry import Mask
from .groups import Claims, Groups
from .ptx import Instruction
from .races import Races
from .types import Array
from .wgmma_hazards import WgmmaHazards

__all__ = ["Asynchrony"]

#: What is kept of a write: 32 bits of time, 16 of the warp, and the number of the instruction above.
_WARP, _NUMBER = 32, 48
_TIME, _WARPS = (1 << _WARP) - 1, (1 << (_NUMBER - _WARP)) - 1


class BulkWrite(NamedTuple):
    """A write by TMA or a bulk copy: observed by warps whose clock in `column` has reached `time`."""

    place: Array
    column: int
    time: int
    first_warp: int
    writer: int


class Phases:
    """The clocks of the arrivals at an mbarrier, by phase; its initialization, and the last use by each warp."""

    def __init__(self, number: int, peers: int) -> None:
        self.number = number
        self.maker, self.made = -1, 0
        self.by: Instruction | None = None
        self.used = np.zeros(peers, np.int32)
        self.ended = 0
        self.now: Array | None = None
        self.before: Array | None = None


class Asynchrony:
    """The state of the race check for asynchronous operations."""

    def __init__(self, races: Races) -> None:
        self.races, self.machine = races, races.machine
        races.asynchrony = self
        opcodes = {
            i.name for s in self.machine.program.segments for i in (*s.instructions, s.terminator) if i is not None
        }
        #: Whether the program uses the async proxy at all.
        self.used = any(name.startswith(("wgmma.mma", "st.async")) or ".bulk" in name for name in opcodes)
        places = len(races.writer)
        #: The last write of each location by a thread; 0 where a TMA or bulk write came later.
        self.by_threads = np.zeros(places if self.used else 0, np.int64)
        self.columns = 0
        self.phases: dict[int, Phases] = {}
        self.bulk_writes: dict[tuple[int, int], BulkWrite] = {}
        self.copies = Groups(self.machine.threads)
        self.bulk = Claims(self.machine.threads, places if self.used else 0)
        self.wgmmas = Claims(self.machine.warps, places if self.used else 0)
        self.registers = WgmmaHazards(self.machine, self.wgmmas.committed)

    def reset(self) -> None:
        if self.used:
            self.by_threads.fill(0)
        self.phases.clear()
        self.bulk_writes.clear()
        for groups in (self.copies, self.bulk, self.wgmmas):
            groups.reset()
        self.registers.reset()
        self.races.clock = np.zeros((2, self.machine.warps, self.races.peers + self.columns), np.int32)

    # -- writes of threads --------------------------------------------------------------------------------------------

    def note_write(self, place: Array, warp: Array, number: int | Array, time: Array | int) -> None:
        """Threads of some warps write at a time, by the instruction of a number."""
        if self.used:
            self.by_threads[place] = warp.astype(np.int64) << _WARP | time | np.asarray(number, np.int64) << _NUMBER

    def fence(self, mask: Mask) -> None:
        """fence.proxy.async: orders what the threads did and observed before later operations of the async proxy."""
        races = self.races
        warps = np.unique(self.machine.lanes(mask) >> 5)
        races.clock[1, warps] = races.clock[0, warps]
        races.clock[1, warps, warps % races.peers] = races.time[warps]
        races.advance(warps)

    def check_fence(self, place: Array, fenced: Array, thread: int, i: Instruction, doing: str) -> None:
        """Report an access of the async proxy to a location that a thread wrote without a fence in between.

        `fenced` has the fenced clocks of the warp (or of all warps that take part).
        """
        stamp = self.by_threads[place]
        writer = stamp >> _WARP & _WARPS
        late = (stamp & _TIME) > fenced[writer % self.races.peers]
        if late.any():
            n = int(np.argmax(late))
            m, by = self.machine, self.races.instructions[int(stamp[n]) >> _NUMBER]
            text = f"{doing} byte {self.offset(place[n])} of shared memory, which the warp of "
            text += f"{m.where(int(writer[n]) * 32)} wrote; no fence.proxy.async orders the two"
            raise AsynchronyError(f"{m.program.name}: {m.where(thread)} {text}", i, by)

    def offset(self, place: int) -> int:
        return int(place) * self.races.granule % self.machine.shared_stride

    # -- reads of asynchronous operations -----------------------------------------------------------------------------

    def begin_bulk_read(self, place: Array, thread: int, i: Instruction) -> None:
        """A bulk copy of a thread reads until its group is waited for."""
        self.races.check_read(place, np.full(len(place), thread), i)
        self.check_fence(place, self.races.clock[1, thread >> 5], thread, i, "reads asynchronously")
        self.bulk.begin(place, np.array([thread]), i)

    def end_bulk_reads(self, threads: Array | slice, allowed: int) -> None:
        """Threads have waited for bulk groups: the reads count as theirs, now."""
        for claim in self.bulk.wait(self.bulk.limits(threads, allowed)):
            self.races.note_reads(claim.place, claim.units, claim.i)

    def begin_wgmma(self, place: Array, warps: Array, i: Instruction) -> None:
        """A WGMMA of some warps reads until each has waited for the group."""
        known = self.races.clock[:, warps].min(axis=1)
        self.races.check_shared_read(place, known[0], int(warps[0]) * 32, i)
        self.check_fence(place, known[1], int(warps[0]) * 32, i, "reads asynchronously")
        self.wgmmas.begin(place, warps, i)

    def end_wgmmas(self, warps: Array | slice, allowed: int) -> None:
        """Warps have waited for groups of wgmma."""
        limits = self.wgmmas.limits(warps, allowed)
        self.registers.wait(limits)
        ended = False
        for claim in self.wgmmas.wait(limits):
            self.races.note_reads(claim.place, claim.units * 32, claim.i)
            ended = True
        if ended:
            self.races.warp_barrier(self.machine.mask_of_warps(warps))

    def check_readers(self, place: Array, thread: Array, i: Instruction) -> None:
        """Report a write to a location that an asynchronous operation still reads."""
        for claims, per_unit in ((self.bulk, 1), (self.wgmmas, 32)):
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

    # -- writes of TMA and bulk copies --------------------------------------------------------------------------------

    def column_of(self, phases: Phases) -> int:
        if phases.number >= self.columns:
            more = max(16, self.columns)
            self.races.add_columns(more)
            self.columns += more
        return self.races.peers + phases.number

    def begin_bulk_write(self, place: Array, thread: int, report: int, i: Instruction, by_proxy: bool = True) -> None:
        """TMA (`by_proxy`), or an asynchronous store, writes for a thread and signals the mbarrier at `report`."""
        races, m = self.races, self.machine
        threads = np.full(len(place), thread)
        races.check_copy(place, threads, i)
        if by_proxy:
            self.check_fence(place, races.clock[1, thread >> 5], thread, i, "has TMA write")
        phases = self.at(report)
        column = self.column_of(phases)
        writer = m.threads + 32 * phases.number
        races.enter_copy(place, writer, phases.ended + 1, i)
        self.by_threads[place] = 0
        first = thread // 32 // races.peers * races.peers
        self.bulk_writes[writer, int(place[0])] = BulkWrite(place, column, phases.ended + 1, first, writer)

    def cta_barrier(self) -> None:
        """Bulk writes that all warps have observed become plain writes of an earlier epoch."""
        races = self.races
        if self.machine.cluster > 1:
            return
        for key, box in list(self.bulk_writes.items()):
            if (races.clock[0, box.first_warp : box.first_warp + races.peers, box.column] >= box.time).all():
                mine = box.place[races.writer[box.place] == box.writer]
                races.write_epoch[mine] = np.minimum(races.write_epoch[mine], races.epoch - 1)
                del self.bulk_writes[key]

    def name(self, writer: int) -> str:
        """The mbarrier in words that stands for the copies that signal it."""
        number = (writer - self.machine.threads) // 32
        place = next((place for place, p in self.phases.items() if p.number == number), 0)
        return f"the mbarrier at byte {place % self.machine.shared_stride}"

    def all_exited(self) -> None:
        """Report operations still in flight in the shared memory of CTAs that have exited."""
        m = self.machine
        for claims, per_unit in ((self.bulk, 1), (self.wgmmas, 32)):
            if claims.running:
                claim = claims.running[0]
                who = m.where(int(claim.units[0]) * per_unit)
                text = f"{who} exits without having waited for an operation that reads shared memory"
                raise AsynchronyError(f"{m.program.name}: {text}", claim.i)
        for box, i in self.unobserved():
            cta = f"CTA {m.cta_name(box.first_warp * 32 // m.padded)}"
            text = f"all threads of {cta} exit without having waited for {self.name(box.writer)}"
            raise AsynchronyError(f"{m.program.name}: {text}, which a copy signals", i)

    def unobserved(self) -> Iterator[tuple[BulkWrite, Instruction]]:
        """The copies to shared memory that no warp has waited for."""
        for box in self.bulk_writes.values():
            knows = self.races.clock[0, box.first_warp : box.first_warp + self.races.peers, box.column] >= box.time
            mine = self.races.writer[box.place] == box.writer
            if mine.any() and not knows.any():
                yield box, self.races.instructions[int(self.races.write_at[box.place[mine][0]])]

    def not_waited_for(self) -> str:
        """For each mbarrier that copies signal and no warp has waited for, a line, and where one of the copies is."""
        found: dict[str, str] = {}
        for box, i in self.unobserved():
            found.setdefault(f"no thread has waited for {self.name(box.writer)}, which a copy signals", position_of(i))
        return "".join(f"\n{text}\n{where}" for text, where in found.items())

    # -- mbarriers ----------------------------------------------------------------------------------------------------

    def at(self, place: int) -> Phases:
        """The phases of the mbarrier at a byte of all shared memory. Those at one offset of every cluster share a
        number."""
        found = self.phases.get(place)
        if found is None:
            size = self.machine.cluster * self.machine.shared_stride
            same = (p.number for at, p in self.phases.items() if at % size == place % size)
            fresh = max((p.number for p in self.phases.values()), default=-1) + 1
            found = self.phases[place] = Phases(next(same, fresh), self.races.peers)
        return found

    def make(self, place: int, thread: int, i: Instruction) -> None:
        """A thread initializes or invalidates an mbarrier: earlier uses must be ordered before."""
        phases, races, m = self.at(place), self.races, self.machine
        warp = thread >> 5
        late = phases.used > races.clock[0, warp, : races.peers]
        late[warp % races.peers] = False
        if late.any():
            other = (warp // races.peers * races.peers + int(np.argmax(late))) * 32
            at = f"an mbarrier at byte {place % m.shared_stride}"
            text = f"{m.where(thread)} initializes or invalidates {at} that the warp of {m.where(other)} used before"
            text += "; no barrier orders the two"
            raise DataRace(f"{m.program.name}: {text}", i, phases.by)
        phases.maker, phases.made, phases.now = thread, int(races.time[warp]), None
        self.use(place, np.array([warp]), i)

    def use(self, place: int, warps: Array, i: Instruction) -> None:
        """Threads of some warps use an mbarrier: its initialization must be ordered before."""
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
        """Threads of some warps arrive at an mbarrier and release their clocks to it."""
        phases = self.at(place)
        known = self.races.joined_clock(warps)
        phases.now = known if phases.now is None else np.maximum(self.races.widened(phases.now), known)
        self.races.advance(warps)

    def complete_tx(self, place: int) -> None:
        """A copy signals an mbarrier that its bytes have arrived."""
        phases = self.at(place)
        column = self.column_of(phases)
        known = self.races.clock[:, 0] * 0 if phases.now is None else self.races.widened(phases.now)
        known[0, column] = phases.ended + 1
        phases.now = known

    def complete_phase(self, place: int) -> None:
        """Later waits acquire the clocks released by the arrivals of this phase."""
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
            self.races.acquire(warps, phases.before)
