"""What threads (or warps) have started and not waited for: asynchronous copies and products, in groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .types import Array

if TYPE_CHECKING:
    from .ptx import Instruction

__all__ = ["Groups", "Running"]


class Running(NamedTuple):
    """Places of shared memory that an instruction of some units works on; of each its unit, and that one's group."""

    place: Array
    unit: Array
    group: Array
    i: Instruction


class Groups:
    """Operations of `units` threads, or warps, that they have not waited for, by the group they were committed in."""

    def __init__(self, units: int) -> None:
        self.committed = np.zeros(units, np.int64)
        self.running: list[Running] = []

    def reset(self) -> None:
        self.committed.fill(0)
        self.running.clear()

    def begin(self, place: Array, unit: Array, i: Instruction) -> None:
        self.running.append(Running(place, unit, self.committed[unit], i))

    def commit(self, units: Array | slice) -> None:
        self.committed[units] += 1

    def limits(self, units: Array | slice, allowed: int | None) -> Array:
        """Below which group all have ended when some units have waited until at most `allowed` run; None: until no
        operation does, committed or not."""
        limit = np.full(len(self.committed), -1, np.int64)
        limit[units] = self.committed[units] - allowed if allowed is not None else np.iinfo(np.int64).max
        return limit

    def wait(self, units: Array | slice, allowed: int | None) -> Iterator[tuple[Array, Array, Instruction]]:
        """Some units wait: places and units of what has ended."""
        limit = self.limits(units, allowed)
        running, self.running = self.running, []
        for record in running:
            done = record.group < limit[record.unit]
            if done.all():
                yield record.place, record.unit, record.i
                continue
            if done.any():
                yield record.place[done], record.unit[done], record.i
                record = Running(record.place[~done], record.unit[~done], record.group[~done], record.i)
            self.running.append(record)

    def of(self, units: Array) -> Instruction | None:
        """An instruction that some of the units have not waited for."""
        return next((r.i for r in self.running if np.isin(r.unit, units).any()), None)
