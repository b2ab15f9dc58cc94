"""Data races in shared memory, found by happens-before.

Each warp has a vector clock over the warps of its CTA (or cluster). An access is stamped with the warp's time. A
barrier joins the clocks of all warps that synchronize there and advances them; `bar.warp.sync` does so within a warp.
Two accesses to one location by different threads, of which one writes, are a race unless the earlier one happens before
the later one by the clock of its warp. (FastTrack, Flanagan and Freund, PLDI 2009, with warps instead of threads; every
location keeps the last read of each warp.)

Writes of the value that a location already holds are no race, as code that computes a value twice stores it twice.
Atomic, volatile and relaxed accesses do not race with each other.

Most accesses are to locations not accessed since the last CTA barrier (in this *epoch*), which one number a location
shows; such an access is only logged. The log is applied to the tables when an access finds a location accessed in its
epoch, and dropped at the next barrier otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from .errors import DataRace
from .geometry import Geometry, Mask
from .memory import Piece
from .program import Program
from .ptx import Instruction
from .types import TYPES, Array

__all__ = ["Races", "granule_of"]

#: The time of a write by an asynchronous copy that its thread has not waited for.
PENDING = np.iinfo(np.int32).max
SEVERAL = 32
#: The epoch of places that an asynchronous copy is on its way to.
FOREVER = np.iinfo(np.int32).max
#: Accesses that are written down before they are sorted in, so that the log of a long loop stays small.
LONGEST_LOG = 512
_STRONG = frozenset(("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"))
_MEMORY = frozenset(("ld", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "mbarrier"))


def granule_of(program: Program) -> int:
    """The bytes of the smallest access that may go to shared memory: places are remembered in this unit."""
    smallest = 8
    for segment in program.segments:
        for i in (*segment.instructions, *([segment.terminator] if segment.terminator is not None else [])):
            if i.opcode in _MEMORY and not {"global", "param", "local", "const"} & set(i.modifiers):
                sizes = [TYPES[m].bytes for m in i.modifiers if m in TYPES]
                smallest = min([smallest, *sizes] if i.opcode in ("ld", "st", "atom", "red") else [smallest, *sizes, 4])
    return max(smallest, 1)


class Access(NamedTuple):
    """An access by some threads to a place each; `time` has the clocks of all warps at the moment."""

    write: bool
    place: Array
    thread: Array
    time: Array
    number: int
    strong: bool
    collective: bool


class AsyncAccesses(Protocol):
    """The check of asynchronous operations (`asynchrony.Asynchrony`) as the race check notifies and queries it."""

    columns: int

    def cta_barrier(self) -> None: ...
    def note_write(self, place: Array, warp: Array, number: int | Array, time: Array | int) -> None: ...
    def check_readers(self, place: Array, thread: Array, i: Instruction) -> None: ...
    def name(self, writer: int) -> str: ...
    def reset(self) -> None: ...


class Races:
    """The vector clock of every warp, and the last accesses to every location of shared memory."""

    asynchrony: AsyncAccesses  # set by the Asynchrony made for these races

    def __init__(self, machine: Geometry, lockstep: bool) -> None:
        self.machine, self.lockstep = machine, lockstep
        self.granule = granule_of(machine.program)
        places = machine.ctas * machine.shared_stride // self.granule
        self.warps_of_cta = machine.padded // 32
        self.peers = self.warps_of_cta * machine.cluster
        self.time = np.ones(machine.warps, np.int32)
        #: Of each warp: up to which time it knows of its peers; and how much of that it has fenced for the async proxy.
        self.clock = np.zeros((2, machine.warps, self.peers), np.int32)
        self.writer = np.empty(places, np.int32)
        self.written = np.empty(places, np.int32)
        self.write_at = np.zeros(places, np.int32)
        self.strong = np.zeros(places, bool)
        self.collective = np.zeros(places, bool)
        self.read_time = np.empty((places, self.peers), np.int32)
        self.read_lane = np.zeros((places, self.peers), np.int8)
        self.read_at = np.zeros(places, np.int32)
        #: The epoch of the last read and write of each place; only those of the present one matter.
        self.epoch = 0
        self.read_epoch = np.full(places, -1, np.int32)
        self.write_epoch = np.full(places, -1, np.int32)
        #: Accesses of this epoch that the tables do not have yet.
        self.log: list[Access] = []
        #: Whether the tables hold nothing of these blocks yet.
        self.stale = True
        self.copied = False  # whether there were asynchronous copies
        self.instructions: list[Instruction] = []
        self.numbers: dict[int, int] = {}
        self.arrivals: dict[int, Array] = {}

    def reset(self) -> None:
        """Clear the state: other CTAs run now."""
        self.time = np.ones_like(self.time)
        self.clock.fill(0)
        self.arrivals.clear()
        self.log.clear()
        self.stale = True
        self.asynchrony.reset()
        self.epoch += 1
        if self.copied:
            self.copied = False
            self.write_epoch[self.write_epoch == FOREVER] = -1

    def number(self, i: Instruction) -> int:
        found = self.numbers.get(id(i))
        if found is None:
            found = self.numbers[id(i)] = len(self.instructions)
            self.instructions.append(i)
        return found

    # -- vector clocks -------------------------------------------------------------------------------------------

    def add_columns(self, count: int) -> None:
        """Add `count` columns to the clocks, for mbarriers."""
        self.clock = np.concatenate([self.clock, np.zeros((2, self.machine.warps, count), np.int32)], axis=2)

    def widened(self, known: Array) -> Array:
        """A clock that was saved when there were fewer columns."""
        missing = self.clock.shape[2] - known.shape[1]
        return np.pad(known, ((0, 0), (0, missing))) if missing else known

    def cta_barrier(self) -> None:
        """All threads of every CTA have passed a CTA barrier."""
        m = self.machine
        clock = self.clock.reshape(2, m.ctas, self.warps_of_cta, -1)
        clock[:] = clock.max(axis=2, keepdims=True)
        time = self.time.reshape(m.ctas, 1, self.warps_of_cta)
        for rank in range(m.cluster):
            own = slice(rank * self.warps_of_cta, (rank + 1) * self.warps_of_cta)
            clock[0, rank :: m.cluster, :, own] = time[rank :: m.cluster]
        self.time = self.time + 1  # a new array: the log keeps the old one
        self.asynchrony.cta_barrier()
        if m.cluster == 1:
            self.log.clear()
            self.epoch += 1

    def warp_barrier(self, mask: Mask) -> None:
        """The threads of a mask have synchronized with those of their warps."""
        if mask is True:
            warps = np.arange(self.machine.warps)
        else:
            warps = np.unique(np.nonzero(mask)[0] >> 5)
        self.clock[0, warps, warps % self.peers] = self.time[warps]
        self.advance(warps)

    def advance(self, warps: Array) -> None:
        """Advance the clocks of some warps."""
        self.time = self.time.copy()
        self.time[warps] += 1

    def joined_clock(self, warps: Array) -> Array:
        """The join of the clocks of some warps, including their present time."""
        known = self.clock[:, warps].max(axis=1)
        known[0, warps % self.peers] = self.time[warps]
        return known

    def arrive(self, mask: Array, places: Array) -> None:
        """Threads arrive at barriers (`places`: one for each thread) without waiting, and release their clocks."""
        for place in np.unique(places[mask]):
            warps = np.unique(np.nonzero(mask & (places == place))[0] >> 5)
            known = self.joined_clock(warps)
            before = self.arrivals.get(int(place))
            self.arrivals[int(place)] = known if before is None else np.maximum(self.widened(before), known)
            self.advance(warps)

    def release_barrier(self, mask: Array, place: int, keep: bool = False) -> None:
        """Threads pass a barrier and acquire the clocks of all arrivals; `keep`: others will pass it later."""
        warps = np.unique(np.nonzero(mask)[0] >> 5)
        known = self.joined_clock(warps)
        left = self.arrivals.get(place) if keep else self.arrivals.pop(place, None)
        if left is not None:
            known = np.maximum(known, self.widened(left))
        self.clock[:, warps] = known[:, None]
        self.advance(warps)

    def acquire(self, warps: Array, known: Array) -> None:
        """Some warps acquire a released clock."""
        self.clock[:, warps] = np.maximum(self.clock[:, warps], self.widened(known)[:, None])

    # -- accesses ------------------------------------------------------------------------------------------------

    def spread(self, piece: Piece, size: int) -> tuple[Array, Array]:
        """The locations of accesses of `size` bytes, and the thread of each."""
        first = piece.at >> (self.granule.bit_length() - 1)
        count = size // self.granule
        if count <= 1:
            return first, piece.lanes
        return (first[:, None] + np.arange(count)).ravel(), np.repeat(piece.lanes, count)

    def unseen_write(self, place: Array, thread: Array, warp: Array, strong: bool, collective: bool = False) -> Array:
        """Which locations hold a write by another thread that does not happen before the present of the warp."""
        writer = self.writer[place]
        written = self.written[place]
        unseen = written > self.clock[0, warp, self.column(writer)]
        if not collective:
            unseen &= (writer != thread) | self.collective[place]
        if self.lockstep:
            unseen &= writer >> 5 != warp
        if strong:
            unseen &= ~self.strong[place]
        return unseen | (written == PENDING)

    def column(self, writer: Array) -> Array:
        """The column of the clocks for some writers: of threads that of their warps, then those of mbarriers."""
        warp = writer >> 5
        if not self.asynchrony.columns:
            return warp % self.peers
        return np.where(warp < self.machine.warps, warp % self.peers, warp - self.machine.warps + self.peers)

    def touched(self, table: Array, place: Array) -> bool:
        """Whether one of the places was accessed in this epoch."""
        return int(table[place].max()) >= self.epoch

    def note(self, access: Access) -> None:
        """Log an access."""
        self.log.append(access)
        (self.write_epoch if access.write else self.read_epoch)[access.place] = self.epoch
        if access.write:
            warp = access.thread >> 5
            self.asynchrony.note_write(access.place, warp, access.number, access.time[warp])
        if len(self.log) > LONGEST_LOG:
            self.apply_log()

    def apply_log(self) -> None:
        """Apply the log to the tables."""
        if self.stale:
            self.stale = False
            self.writer.fill(-1)
            self.written.fill(0)
            self.read_time.fill(0)
        for access in self.log:
            if access.write:
                self.enter_write(access)
            else:
                self.enter_read(access)
        self.log.clear()

    def enter_read(self, access: Access) -> None:
        place, thread = access.place, access.thread
        warp = thread >> 5
        peer, lane, now = warp % self.peers, (thread & 31).astype(np.int8), access.time[warp]
        another = (self.read_time[place, peer] == now) & (self.read_lane[place, peer] != lane)
        self.read_time[place, peer] = now
        self.read_lane[place, peer] = lane
        shared = another | (self.read_lane[place, peer] != lane) | access.collective
        self.read_lane[place[shared], peer[shared]] = SEVERAL
        self.read_at[place] = access.number

    def enter_write(self, access: Access) -> None:
        place = access.place
        self.writer[place] = access.thread
        self.written[place] = access.time[access.thread >> 5]
        self.write_at[place] = access.number
        self.strong[place] = access.strong
        self.collective[place] = access.collective

    def read(self, piece: Piece, size: int, i: Instruction, collective: bool = False) -> None:
        """Log reads, and report writes that do not happen before them.

        What a `collective` instruction reads or writes at the address of one lane comes from, or goes to, others.
        """
        place, thread = self.spread(piece, size)
        strong = bool(_STRONG & set(i.modifiers))
        self.check_read(place, thread, i, strong, collective)
        if not strong:
            self.note(Access(False, place, thread, self.time, self.number(i), strong, collective))

    def note_reads(self, place: Array, threads: Array, i: Instruction) -> None:
        """Asynchronous reads of some places have ended: each of some threads reads them all, at this moment."""
        self.read_epoch[place] = self.epoch
        number = self.number(i)
        for thread in threads:
            self.log.append(Access(False, place, np.full(len(place), thread), self.time, number, False, False))
        if len(self.log) > LONGEST_LOG:
            self.apply_log()

    def check_shared_read(self, place: Array, known: Array, thread: int, i: Instruction) -> None:
        """As `check_read`, for a collective read by warps that together know what `known` says."""
        if self.touched(self.write_epoch, place):
            self.apply_log()
            writer, written = self.writer[place], self.written[place]
            unseen = (written > known[self.column(writer)]) | (written == PENDING)
            if unseen.any():
                n = int(np.argmax(unseen))
                threads = np.full(len(place), thread)
                self.report("reads", "written by", place, threads, n, i, int(writer[n]))

    def check_read(
        self, place: Array, thread: Array, i: Instruction, strong: bool = False, collective: bool = False
    ) -> None:
        """Report writes that do not happen before reads of some locations."""
        if self.touched(self.write_epoch, place):
            self.apply_log()
            unseen = self.unseen_write(place, thread, thread >> 5, strong, collective)
            if unseen.any():
                n = int(np.argmax(unseen))
                self.report("reads", "written by", place, thread, n, i, int(self.writer[place[n]]))

    def write(
        self,
        piece: Piece,
        view: Array,
        at: Array,
        values: list[Any],
        size: int,
        i: Instruction,
        atomic: bool = False,
        collective: bool = False,
    ) -> None:
        """Log writes of `values` (before they are made), and report accesses that do not happen before them."""
        place, thread = self.spread(piece, size)
        strong = atomic or bool(_STRONG & set(i.modifiers))
        self.asynchrony.check_readers(place, thread, i)
        if self.touched(self.write_epoch, place):
            self.apply_log()
            unseen = self.unseen_write(place, thread, thread >> 5, strong, collective)
            if unseen.any():
                same = np.ones(len(at), bool)
                for n, value in enumerate(values):
                    same &= view[at + n] == value
                pending = (self.written[place] == PENDING) | (self.writer[place] >= self.machine.threads)
                unseen &= pending | ~np.repeat(same if values else ~same, max(size // self.granule, 1))
            if unseen.any():
                n = int(np.argmax(unseen))
                self.report("writes", "written by", place, thread, n, i, int(self.writer[place[n]]))
        if self.touched(self.read_epoch, place):
            self.apply_log()
            self.check_readers(place, thread, thread >> 5, i)
        self.note(Access(True, place, thread, self.time, self.number(i), strong, collective))

    def check_readers(self, place: Array, thread: Array, warp: Array, i: Instruction) -> None:
        """Report reads by other threads that do not happen before the write."""
        peer = warp % self.peers
        times = self.read_time[place]
        unseen = times > self.clock[0, warp, : self.peers]
        rows = np.arange(len(place))
        if self.lockstep:
            unseen[rows, peer] = False
        else:
            unseen[rows, peer] &= self.read_lane[place, peer] != (thread & 31)
        if not unseen.any():
            return
        n = int(np.argmax(unseen.any(axis=1)))
        other = int(np.argmax(unseen[n]))
        lane = int(self.read_lane[place[n], other])
        reader = (int(warp[n]) // self.peers * self.peers + other) * 32 + (lane if lane < SEVERAL else 0)
        self.report("writes", "read by", place, thread, n, i, reader, self.read_at)

    def check_collision(self, piece: Piece, view: Array, at: Array, values: list[Any], i: Instruction) -> None:
        """After a write: report two threads that wrote different values to one location by this instruction."""
        for n, value in enumerate(values):
            lost = view[at + n] != value
            if lost.any():
                self.apply_log()
                k = int(np.argmax(lost))
                place, _ = self.spread(piece, self.granule)
                winner = int(self.writer[place[k]])
                self.report("writes", "written by", place, piece.lanes, k, i, winner)

    def begin_copy(self, piece: Piece, size: int, i: Instruction) -> tuple[Array, Array]:
        """An asynchronous copy writes: until its thread waits, no access is allowed. Returns locations, threads."""
        place, thread = self.spread(piece, size)
        self.check_copy(place, thread, i)
        self.enter_write(Access(True, place, thread, self.time, self.number(i), False, False))
        self.stamp(place, PENDING)
        self.asynchrony.note_write(place, thread >> 5, self.number(i), PENDING)
        return place, thread

    def check_copy(self, place: Array, thread: Array, i: Instruction) -> None:
        """Report accesses that do not happen before an asynchronous write of some threads."""
        self.apply_log()
        self.asynchrony.check_readers(place, thread, i)
        if self.touched(self.write_epoch, place):
            unseen = self.unseen_write(place, thread, thread >> 5, False)
            if unseen.any():
                n = int(np.argmax(unseen))
                self.report("writes", "written by", place, thread, n, i, int(self.writer[place[n]]))
        if self.touched(self.read_epoch, place):
            self.check_readers(place, thread, thread >> 5, i)

    def enter_copy(self, place: Array, writer: int, time: int, i: Instruction) -> None:
        """TMA writes; `writer` stands for the mbarrier that it signals, `time` for its phase."""
        self.writer[place] = writer
        self.write_at[place] = self.number(i)
        self.strong[place] = self.collective[place] = False
        self.stamp(place, time)

    def stamp(self, place: Array, time: int) -> None:
        """Give entered writes a time of their own, whatever barriers are passed meanwhile."""
        self.written[place] = time
        self.copied = True
        self.write_epoch[place] = FOREVER

    def end_copy(self, place: Array, thread: Array) -> None:
        """The thread has waited for its copies: they count as writes at this moment."""
        self.apply_log()
        mine = (self.writer[place] == thread) & (self.written[place] == PENDING)
        place, warp = place[mine], thread[mine] >> 5
        self.written[place] = self.time[warp]
        self.write_epoch[place] = self.epoch
        self.asynchrony.note_write(place, warp, self.write_at[place], self.time[warp])

    def report(
        self,
        doing: str,
        done: str,
        place: Array,
        thread: Array,
        n: int,
        i: Instruction,
        other: int,
        table: Array | None = None,
    ) -> None:
        m = self.machine
        offset = int(place[n]) * self.granule
        at = offset % m.shared_stride
        me = int(thread[n])
        number = int((self.write_at if table is None else table)[place[n]])
        by = self.instructions[number] if self.instructions else None
        how = "no barrier orders the two"
        who = m.where(other) if other < m.threads else "a TMA or bulk copy"
        if table is None and self.written[place[n]] == PENDING:
            how = "that asynchronous copy has not been waited for"
        elif other >= m.threads:
            how = f"{m.where(me)} has not waited for {self.asynchrony.name(other)}, which it signals"
        elif me >> 5 == other >> 5:
            how = "no bar.warp.sync orders the two threads of a warp"
        text = f"{m.program.name}: race in shared memory at byte {at}: {m.where(me)} {doing} a byte {done} "
        raise DataRace(f"{text}{who}; {how}", i, by)
