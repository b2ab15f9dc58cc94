"""The asynchronous copies that threads have started and not waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .types import Array

if TYPE_CHECKING:
    from .machine import Machine, Mask

__all__ = ["AsyncCopies"]


class AsyncCopies:
    """The copies of each thread that it has not waited for, by the group they were committed in."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.committed = np.zeros(machine.threads, np.int64)
        self.running: list[tuple[Array, Array, Array]] = []

    def reset(self) -> None:
        self.committed.fill(0)
        self.running.clear()

    def begin(self, places: Array, threads: Array) -> None:
        self.running.append((places, threads, self.committed[threads]))

    def commit(self, mask: Mask) -> None:
        self.committed[slice(None) if mask is True else mask] += 1

    def wait(self, mask: Mask, allowed: int | None) -> None:
        """The threads of a mask wait until at most `allowed` of their groups run; None: until no copy does."""
        races = self.machine.races
        if races is None:
            return
        limit = np.full(self.machine.threads, -1, np.int64)
        chosen = slice(None) if mask is True else mask
        limit[chosen] = self.committed[chosen] - allowed if allowed is not None else np.iinfo(np.int64).max
        left = []
        for places, threads, groups in self.running:
            done = groups < limit[threads]
            if done.any():
                races.end_copy(places[done], threads[done])
            if not done.all():
                left.append((places[~done], threads[~done], groups[~done]))
        self.running = left
