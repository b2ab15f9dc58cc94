"""Races in LDS: two waves of a workgroup access one location, one of them writes, and no barrier orders the two.

Time is counted per workgroup in barriers. A location knows who last wrote and read it, and when. A wave executes its
own accesses in order, so that only accesses of two waves between the same barriers race. A load from memory to LDS that
has not been waited for when its wave reaches a barrier may arrive after it, and counts for the time after it, too.
"""

from __future__ import annotations

import numpy as np

from ..errors import DataRace
from ..memory import Piece
from ..types import Array
from .assembly import Instruction
from .shape import Shape

__all__ = ["LdsRaces"]

SEVERAL = -2


class LdsRaces:
    """The last accesses to each location of the LDS of a batch. A location has the size of the smallest access."""

    def __init__(self, shape: Shape, stride: int, granule: int) -> None:
        self.shape, self.stride, self.granule = shape, stride, granule
        size = shape.workgroups * stride // granule
        self.write_time, self.read_time = np.empty(size, np.int32), np.empty(size, np.int32)
        self.writer, self.reader = np.empty(size, np.int32), np.empty(size, np.int32)
        self.write_at, self.read_at = np.empty(size, np.int32), np.empty(size, np.int32)
        self.atomic, self.late = np.empty(size, bool), np.empty(size, bool)
        self.time = np.zeros(shape.workgroups, np.int32)
        self.instructions: list[Instruction] = []
        self.numbers: dict[int, int] = {}
        self.recent: dict[int, tuple[Array, Array]] = {}

    @property
    def footprint(self) -> int:
        return int(self.write_time.nbytes * 6 + self.atomic.nbytes * 2)

    def reset(self) -> None:
        self.write_time[:] = self.read_time[:] = -1
        self.atomic[:] = self.late[:] = False
        self.time[:] = 0
        self.instructions.clear()
        self.numbers.clear()
        self.recent.clear()

    def number(self, i: Instruction) -> int:
        found = self.numbers.get(id(i))
        if found is None:
            found = self.numbers[id(i)] = len(self.instructions)
            self.instructions.append(i)
        return found

    def spread(self, piece: Piece, size: int) -> tuple[Array, Array]:
        """(locations, the wave that accesses each)."""
        first, count = piece.at // self.granule, size // self.granule
        places = (first[:, None] + np.arange(count)).ravel() if count > 1 else first
        return places, np.repeat(piece.lanes // self.shape.lanes, count)

    def now(self, waves: Array) -> Array:
        return self.time[self.shape.group_of_wave[waves]]

    def read(self, i: Instruction, piece: Piece, size: int) -> None:
        """Check and note reads."""
        place, wave = self.spread(piece, size)
        now = self.now(wave)
        unseen = (self.write_time[place] >= now) & (self.writer[place] != wave)
        if unseen.any():
            n = int(np.argmax(unseen))
            self.report(i, "reads", "written by", int(place[n]), int(wave[n]), self.writer, self.write_at)
        another = (self.read_time[place] >= now) & (self.reader[place] != wave)
        self.read_time[place] = now
        self.reader[place] = wave
        self.reader[place[another | (self.reader[place] != wave)]] = SEVERAL
        self.read_at[place] = self.number(i)

    def write(self, i: Instruction, piece: Piece, size: int, same: Array, atomic: bool = False) -> None:
        """Check and note writes, before they are made; those that do not change a value (`same`) race with no write."""
        place, wave = self.spread(piece, size)
        now = self.now(wave)
        unseen = (self.write_time[place] >= now) & (self.writer[place] != wave) & ~np.repeat(same, size // self.granule)
        if atomic:
            unseen &= ~self.atomic[place]
        if unseen.any():
            n = int(np.argmax(unseen))
            self.report(i, "writes", "written by", int(place[n]), int(wave[n]), self.writer, self.write_at)
        unseen = (self.read_time[place] >= now) & (self.reader[place] != wave)
        if unseen.any():
            n = int(np.argmax(unseen))
            self.report(i, "writes", "read by", int(place[n]), int(wave[n]), self.reader, self.read_at)
        self.write_time[place] = now
        self.writer[place] = wave
        self.atomic[place], self.late[place] = atomic, False
        self.write_at[place] = self.number(i)
        self.recent[id(i)] = (place, wave)

    def collided(self, i: Instruction, piece: Piece, size: int, lost: Array) -> None:
        """After a write: report two waves that wrote different values to one location by this instruction."""
        for n in np.nonzero(lost)[0]:
            wave = int(piece.lanes[n]) // self.shape.lanes
            place = piece.at[n] // self.granule + np.arange(size // self.granule)
            other = place[self.writer[place] != wave]
            if other.size:
                self.report(i, "writes", "written by", int(other[0]), wave, self.writer, self.write_at)

    def carry_over(self, i: Instruction, waves: Array) -> None:
        """Some waves reach a barrier while their last loads to LDS by an instruction may be in flight."""
        found = self.recent.get(id(i))
        if found is None:
            return
        place, wave = found
        mine = np.isin(wave, waves)
        place, wave = place[mine], wave[mine]
        kept = self.writer[place] == wave
        self.write_time[place[kept]] = self.now(wave[kept]) + 1
        self.late[place[kept]] = True

    def report(self, i: Instruction, doing: str, done: str, place: int, wave: int, owner: Array, at: Array) -> None:
        other = int(owner[place])
        by = self.instructions[int(at[place])]
        who = "several waves" if other == SEVERAL else f"wave {other % self.shape.waves_per_group}"
        waited = owner is self.writer and self.late[place]
        how = "which had not been waited for at the last barrier" if waited else "no barrier orders the two"
        at_byte = place * self.granule % self.stride
        text = f"{self.shape.name}: race in LDS at byte {at_byte}: {self.shape.where(wave)} {doing} "
        raise DataRace(f"{text}what was {done} {who}; {how}", i, by)
