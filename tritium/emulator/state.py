"""The state of a batch of CTAs that instructions, terminators and checks share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .asynchrony import Asynchrony
from .barriers import Barriers, Clusters
from .geometry import NOWHERE
from .global_races import GlobalRaces
from .initcheck import InitCheck
from .memory import Memory, Piece, Store
from .operands import Operands
from .program import Program
from .ptx import Instruction
from .races import Races
from .register_pool import RegisterPool
from .tensormap_visibility import TensorMapVisibility
from .threads import EXITED
from .types import UNSIGNED, Array

__all__ = ["MachineState"]


class MachineState(Operands):
    """The state of a batch of CTAs. Steps and terminators are made for one state and change it."""

    def __init__(
        self,
        program: Program,
        block: tuple[int, int, int],
        ctas: int,
        shared_bytes: int,
        cluster: tuple[int, int, int],
        races: bool,
        lockstep: bool = False,
        uninitialized: bool = False,
    ) -> None:
        super().__init__(program, block, ctas, shared_bytes, cluster)
        self.memory = Memory()
        self.prints: list[str] = []
        self.instructions = 0  # executed so far, times threads
        self.shared = Store(np.empty(ctas * self.shared_stride, np.uint8), 0, "shared memory")
        self.shared_base = self.cta.astype(np.int64) * self.shared_stride
        self.local = Store(np.empty(self.threads * program.local_size, np.uint8), 0, "local memory")
        self.local_base = self.thread.astype(np.int64) * program.local_size
        self.param = Store(np.zeros(max(program.param_size, 1) + 16, np.uint8), 0, "parameters", writable=False)
        self.races: Races | None = Races(self, lockstep) if races else None
        self.asynchrony = None if self.races is None else Asynchrony(self.races)
        self.initcheck = InitCheck(self) if uninitialized else None
        self.global_races: GlobalRaces | None = None  # those of a launch
        self.barriers, self.clusters = Barriers(self, self.races), Clusters(self, self.races)
        self.objects: set[int] = set()  # the places of mbarriers
        self.tensor_maps = TensorMapVisibility(self)
        self.register_pool = RegisterPool(self)
        self.resettable: list[Callable[[], None]] = [
            self.barriers.reset,
            self.clusters.reset,
            self.tensor_maps.reset,
            self.register_pool.reset,
            self.objects.clear,
        ]

    @property
    def footprint(self) -> int:
        """The approximate size in bytes."""
        bytes_ = sum(row.nbytes for row in self.rows.values()) + self.shared.raw.nbytes + self.local.raw.nbytes
        if self.races is not None:
            bytes_ += self.races.read_time.nbytes * 2 + self.shared.raw.nbytes
        return bytes_

    def shared_memory_read(self, piece: Piece, size: int, i: Instruction, collective: bool = False) -> None:
        """Apply the enabled checks to reads of shared memory."""
        if self.races is not None:
            self.races.read(piece, size, i, collective)
        if self.initcheck is not None:
            self.initcheck.check(piece, size, i)

    def shared_memory_changes(
        self, piece: Piece, view: Array, at: Array, size: int, i: Instruction, atomic: bool = True
    ) -> None:
        """Apply the enabled checks to accesses that modify shared memory in place."""
        if piece.store is not self.shared:
            return
        if self.races is not None:
            self.races.write(piece, view, at, [], size, i, atomic=atomic)
        if self.initcheck is not None:
            if atomic:
                self.initcheck.check(piece, size, i)
            self.initcheck.mark(piece, size)

    def bulk_write(self, at: Array, words: Array, thread: int, report: int, i: Instruction) -> None:
        """A bulk copy of a thread writes pairs of words at some offsets of shared memory, and signals an mbarrier."""
        _, view = self.shared.view(UNSIGNED[64])
        piece = Piece(self.shared, at, np.full(len(at), thread))
        if self.asynchrony is not None:
            self.asynchrony.begin_bulk_write(self.asynchrony.races.spread(piece, 16)[0], thread, report, i)
        if self.initcheck is not None:
            self.initcheck.mark(piece, 16)
        view.reshape(-1, 2)[at >> 4] = words

    def async_write(self, piece: Piece, data: bytes, thread: int, report: int, i: Instruction) -> None:
        """An asynchronous store of a thread writes bytes to shared memory, and signals an mbarrier."""
        if self.asynchrony is not None:
            place = self.asynchrony.races.spread(piece, len(data))[0]
            self.asynchrony.begin_bulk_write(place, thread, report, i, by_proxy=False)
        if self.initcheck is not None:
            self.initcheck.mark(piece, len(data))
        start = int(piece.at[0])
        _, view = self.shared.view(UNSIGNED[8])
        view[start : start + len(data)] = np.frombuffer(data, np.uint8)

    def bulk_read(self, at: Array, thread: int, i: Instruction) -> Array:
        """The pairs of words that a bulk copy of a thread reads at some offsets of shared memory."""
        piece = Piece(self.shared, at, np.full(len(at), thread))
        if self.asynchrony is not None:
            self.asynchrony.begin_bulk_read(self.asynchrony.races.spread(piece, 16)[0], thread, i)
        if self.initcheck is not None:
            self.initcheck.check(piece, 16, i)
        _, view = self.shared.view(UNSIGNED[64])
        return view.reshape(-1, 2)[at >> 4]

    def exit(self, mask: Array) -> None:
        """Threads exit; wake those that waited for them."""
        self.ready[mask] = NOWHERE
        self.state[mask] = EXITED
        self.clusters.advance()
        self.wake()
