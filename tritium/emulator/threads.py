"""Which threads run, wait and have exited, and the segment each of them is at."""

from __future__ import annotations

from typing import Any

import numpy as np

from .geometry import NOWHERE, Geometry
from .program import Program
from .types import Array

__all__ = ["BLOCKED", "EXITED", "RUNNING", "Threads"]

RUNNING, BLOCKED, EXITED = 0, 1, 2


class Threads(Geometry):
    """The program counter `pc` and the state of each thread; `ready` is `pc` for threads that run, else NOWHERE."""

    def __init__(
        self,
        program: Program,
        block: tuple[int, int, int],
        ctas: int,
        shared_bytes: int,
        cluster: tuple[int, int, int],
    ) -> None:
        super().__init__(program, block, ctas, shared_bytes, cluster)
        self.pc = np.zeros(self.threads, np.int32)
        self.ready = np.zeros(self.threads, np.int32)
        self.state = np.zeros(self.threads, np.int8)
        #: Of each segment: whether threads blocked at its end are resumed by `wake`.
        self.wakes: Array = np.zeros(len(program.segments), bool)

    def move(self, mask: Array, to: Any) -> None:
        """Threads continue at segment `to` (an index, or one for each thread of the mask)."""
        self.pc[mask] = to
        self.ready[mask] = to
        self.state[mask] = RUNNING

    def block_at(self, mask: Array, at: int) -> None:
        """Threads block at segment `at`."""
        self.pc[mask] = at
        self.ready[mask] = NOWHERE
        self.state[mask] = BLOCKED

    def wake(self) -> None:
        """Resume blocked threads whose terminators test their condition again (all but CTA barriers)."""
        again = (self.state == BLOCKED) & self.wakes[self.pc]
        self.ready[again] = self.pc[again]
        self.state[again] = RUNNING

    @property
    def alive(self) -> Array:
        return np.asarray(self.state != EXITED)

    def ended(self, ctas: Array) -> Array:
        """Which of some CTAs have exited: their shared memory may no longer be accessed."""
        running = np.any(self.alive.reshape(self.ctas, -1), axis=1)
        return np.asarray(~running[ctas])
