"""Data races between CTAs in global memory, found by happens-before.

Each CTA (each cluster, whose CTAs count as one) has a clock, and knows of other CTAs up to which time it has seen their
accesses. An access is stamped with the time of its CTA. Nothing but accesses that may synchronize orders two CTAs:
atomic operations, and loads and stores that are volatile, relaxed, acquire or release. Each of them publishes at its
address what its CTA knows (writes), and acquires what was published there (reads); the kinds are not told apart, so
that a missing `sem` or `scope` is not reported. Accesses of different CTAs to one place, of which one writes and one
is weak, are a race unless the later CTA knows of the earlier access. (FastTrack, Flanagan and Freund, PLDI 2009.)

Of the reads of several CTAs since the last write only that there are several is kept: a write after them is reported
where its CTA has acquired nothing. Every race reported is one; launches are ordered by their stream.
"""

from __future__ import annotations

import numpy as np

from .errors import DataRace
from .geometry import Geometry
from .memory import Piece
from .ptx import Instruction
from .types import Array

__all__ = ["GlobalRaces"]

NOBODY, SEVERAL = -1, -2
_STRONG = frozenset(("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"))


class _Table:
    """The last accesses of each byte of an array."""

    def __init__(self, size: int) -> None:
        self.writer = np.full(size, NOBODY, np.int32)
        self.written = np.zeros(size, np.int32)
        self.write_at = np.zeros(size, np.int32)
        self.strong = np.zeros(size, bool)
        self.reader = np.full(size, NOBODY, np.int32)
        self.read = np.zeros(size, np.int32)
        self.read_at = np.zeros(size, np.int32)


class GlobalRaces:
    """What the CTAs of a launch of `blocks` CTAs know of each other, and who last accessed every byte."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.time = np.ones(blocks, np.int32)
        self.known: dict[int, Array] = {}
        self.published: dict[int, Array] = {}
        self._merged: dict[tuple[int, int], tuple[Array, Array, Array]] = {}
        self._tables: dict[tuple[int, int], _Table] = {}
        self._instructions: list[Instruction] = []
        self._numbers: dict[int, int] = {}

    def access(self, machine: Geometry, piece: Piece, size: int, i: Instruction, write: bool) -> None:
        """Note accesses of `size` bytes before they are made; DataRace for one that nothing orders with an earlier."""
        if "const" in i.modifiers:
            return
        unit = self._units(machine)[machine.cta[piece.lanes]]
        atomic = i.opcode in ("atom", "red") or (i.opcode == "cp" and "reduce" in i.modifiers)
        strong = atomic or bool(_STRONG & set(i.modifiers))
        if strong:
            self._synchronize(unit, piece.store.base + piece.at, acquires=i.opcode in ("atom", "ld"), releases=write)
        place = (piece.at[:, None] + np.arange(size)).ravel() if size > 1 else piece.at
        found = _Access(self, machine, piece, i, place, np.repeat(unit, size) if size > 1 else unit, size)
        key = (piece.store.base, piece.store.end)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = _Table(piece.store.raw.size)
        found.check_writes(table, strong, write)
        if write:
            found.check_reads(table)
            found.enter_write(table, strong)
        elif not strong:
            found.enter_read(table)

    def number(self, i: Instruction) -> int:
        """The number under which tables have an instruction."""
        number = self._numbers.get(id(i))
        if number is None:
            number = self._numbers[id(i)] = len(self._instructions)
            self._instructions.append(i)
        return number

    def instruction(self, number: int) -> Instruction:
        """The instruction of a number."""
        return self._instructions[number]

    def unseen(self, unit: Array, other: Array, time: Array) -> Array:
        """Which CTAs do not know of what others did at some time."""
        if not self.known:
            return np.ones(len(unit), bool)
        result = np.ones(len(unit), bool)
        for u in np.unique(unit):
            known = self.known.get(int(u))
            if known is not None:
                mine = unit == u
                result[mine] = time[mine] > known[other[mine]]
        return result

    def knows_nothing(self, unit: Array) -> Array:
        """Which CTAs have acquired nothing."""
        if not self.known:
            return np.ones(len(unit), bool)
        return ~np.isin(unit, list(self.known))

    @staticmethod
    def _units(machine: Geometry) -> Array:
        """The number of each CTA of a batch in the launch; of a cluster that of its first CTA."""
        numbers = machine.cta_numbers
        if machine.cluster == 1:
            return numbers
        return np.repeat(numbers.reshape(-1, machine.cluster).min(axis=1), machine.cluster)

    # -- synchronization ---------------------------------------------------------------------------------------------

    def _synchronize(self, unit: Array, address: Array, acquires: bool, releases: bool) -> None:
        """CTAs acquire what was published at some addresses, and publish what they know."""
        snapshots: dict[int, Array] = {}
        for u, a in zip(unit.tolist(), address.tolist()):
            published = self.published.get(a)
            if acquires and published is not None:
                known = self.known.get(u)
                self.known[u] = published if known is None else self._union(known, published)
                snapshots.pop(u, None)
            if releases:
                if u not in snapshots:
                    known = self.known.get(u)
                    snapshots[u] = np.zeros(self.blocks, np.int32) if known is None else known.copy()
                    snapshots[u][u] = self.time[u]
                self.published[a] = snapshots[u] if published is None else self._union(published, snapshots[u])
        for u in snapshots:
            self.time[u] += 1

    def _union(self, a: Array, b: Array) -> Array:
        """The join of two clocks; the same array for the same two."""
        if a is b:
            return a
        found = self._merged.get((id(a), id(b)))
        if found is None:
            found = self._merged[id(a), id(b)] = (a, b, np.maximum(a, b))  # keeps both, so that their ids stay theirs
        return found[2]


class _Access:
    """Accesses of one instruction to the bytes `place`, by the CTAs `unit`."""

    def __init__(
        self, races: GlobalRaces, machine: Geometry, piece: Piece, i: Instruction, place: Array, unit: Array, size: int
    ) -> None:
        self.races, self.machine, self.piece, self.i = races, machine, piece, i
        self.place, self.unit, self.size = place, unit, size

    def check_writes(self, table: _Table, strong: bool, write: bool) -> None:
        """Complain of writes that are not ordered with this access."""
        writer = table.writer[self.place]
        bad = (writer >= 0) & (writer != self.unit)
        if strong:
            bad &= ~table.strong[self.place]
        if bad.any():
            at = np.nonzero(bad)[0]
            unseen = self.races.unseen(self.unit[at], writer[at], table.written[self.place[at]])
            if unseen.any():
                n = int(at[np.argmax(unseen)])
                number = int(table.write_at[self.place[n]])
                self._report("writes" if write else "reads", "written", n, int(writer[n]), number)

    def check_reads(self, table: _Table) -> None:
        """Complain of reads that are not ordered with this write."""
        reader = table.reader[self.place]
        bad = (reader != NOBODY) & (reader != self.unit)
        if not bad.any():
            return
        at = np.nonzero(bad)[0]
        unit, other = self.unit[at], reader[at]
        unseen = np.where(
            other == SEVERAL,
            self.races.knows_nothing(unit),
            self.races.unseen(unit, np.maximum(other, 0), table.read[self.place[at]]),
        )
        if unseen.any():
            n = int(at[np.argmax(unseen)])
            self._report("writes", "read", n, int(reader[n]), int(table.read_at[self.place[n]]))

    def enter_write(self, table: _Table, strong: bool) -> None:
        """Note a write, and complain where two CTAs make it at once."""
        table.writer[self.place] = self.unit
        if not strong:
            others = table.writer[self.place] != self.unit
            if others.any():
                n = int(np.argmax(others))
                self._report("writes", "written", n, int(table.writer[self.place[n]]), self.races.number(self.i))
        table.written[self.place] = self.races.time[self.unit]
        table.write_at[self.place] = self.races.number(self.i)
        table.strong[self.place] = strong
        table.reader[self.place] = NOBODY

    def enter_read(self, table: _Table) -> None:
        """Note a read."""
        before = table.reader[self.place]
        alone = (before == NOBODY) | (before == self.unit)
        table.reader[self.place] = np.where(alone, self.unit, SEVERAL)
        together = alone & (table.reader[self.place] != self.unit)
        table.reader[self.place[together]] = SEVERAL
        table.read[self.place] = self.races.time[self.unit]
        table.read_at[self.place] = self.races.number(self.i)

    def _report(self, doing: str, done: str, n: int, other: int, number: int) -> None:
        m, store = self.machine, self.piece.store
        who = "several CTAs have" if other == SEVERAL else f"CTA {m.block_name(other)} has"
        thread = int(self.piece.lanes[n // self.size])
        text = (
            f"{m.program.name}: race in global memory at byte {int(self.place[n])} of {store.name}: {m.where(thread)} "
            f"{doing} a byte that {who} {done}; no atomic operation orders the two"
        )
        raise DataRace(text, self.i, self.races.instruction(number))
