"""Asynchronous operations in flight: copies and WGMMAs that threads (or warps) have issued and not waited for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .types import Array

if TYPE_CHECKING:
    from .ptx import Instruction

__all__ = ["Claim", "Claims", "Groups"]


class _Committed:
    """The number of groups that each unit (a thread or a warp) has committed."""

    def __init__(self, units: int) -> None:
        self.committed = np.zeros(units, np.int64)

    def commit(self, units: Array | slice) -> None:
        self.committed[units] += 1

    def limits(self, units: Array | slice, allowed: int | None) -> Array:
        """The group index below which all groups have completed once some units have waited for at most `allowed` in
        flight; None: for none in flight, committed or not."""
        limit = np.full(len(self.committed), -1, np.int64)
        limit[units] = self.committed[units] - allowed if allowed is not None else np.iinfo(np.int64).max
        return limit


class Groups(_Committed):
    """Operations in flight of `units` threads: locations in shared memory, and of each the thread and its group."""

    def __init__(self, units: int) -> None:
        super().__init__(units)
        self.running: list[tuple[Array, Array, Array]] = []

    def reset(self) -> None:
        self.committed.fill(0)
        self.running.clear()

    def begin(self, place: Array, unit: Array) -> None:
        self.running.append((place, unit, self.committed[unit]))

    def wait(self, units: Array | slice, allowed: int | None) -> Iterator[tuple[Array, Array]]:
        """Some units wait: the locations and units of the operations that complete."""
        limit = self.limits(units, allowed)
        running, self.running = self.running, []
        for place, unit, group in running:
            done = group < limit[unit]
            if done.any():
                yield place[done], unit[done]
            if not done.all():
                self.running.append((place[~done], unit[~done], group[~done]))


class Claim(NamedTuple):
    """Locations that all of some units read; of each unit the group. `serial` orders claims by time."""

    place: Array
    units: Array
    group: Array
    i: Instruction
    serial: int


class Claims(_Committed):
    """As `Groups`, for operations that several units issue together, or one unit on many locations.

    `last` has the serial of the latest claim on each location; a claim older than all in flight has completed.
    """

    def __init__(self, units: int, places: int) -> None:
        super().__init__(units)
        self.running: list[Claim] = []
        self.last = np.zeros(places, np.int32)
        self.serial = 0

    def reset(self) -> None:
        self.committed.fill(0)
        self.running.clear()
        self.last.fill(0)
        self.serial = 0

    def begin(self, place: Array, units: Array, i: Instruction) -> None:
        self.serial += 1
        self.last[place] = self.serial
        self.running.append(Claim(place, units, self.committed[units], i, self.serial))

    def wait(self, limit: Array) -> Iterator[Claim]:
        """The groups of each unit below its limit have completed: the claims that end."""
        running, self.running = self.running, []
        for claim in running:
            done = claim.group < limit[claim.units]
            if done.all():
                yield claim
                continue
            if done.any():
                yield claim._replace(units=claim.units[done], group=claim.group[done])
                claim = claim._replace(units=claim.units[~done], group=claim.group[~done])
            self.running.append(claim)

    def busy(self, place: Array) -> tuple[Claim, int] | None:
        """A claim in flight on one of some locations, and the index of that location; None where there is none."""
        if not self.running:
            return None
        near = np.nonzero(self.last[place] >= self.running[0].serial)[0]
        for claim in self.running if near.size else ():
            hit = np.isin(place[near], claim.place)
            if hit.any():
                return claim, int(near[np.argmax(hit)])
        return None
