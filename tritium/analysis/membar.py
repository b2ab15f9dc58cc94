"""Where the threads of a block must wait for each other, because one writes shared memory that another uses.

Followed along the program is what has been read and written since the last barrier, in bytes of shared memory. An
operation needs a barrier in front of it where it

    reads what was written    (read after write),
    writes what was read      (write after read), or
    writes what was written   (write after write).

A barrier settles everything before it. An operation with scratch writes it, lets all threads wait inside, and then
reads it: what was before is settled too, and what is left is that it reads. A conversion inside warps lets only the
threads of a warp wait and settles nothing. A call reads and writes all the shared memory of the function it calls. What
asynchronous copies have brought is seen by the thread that waited for them; so that others see it, a barrier follows
every wait.

The copy engine and the tensor cores access shared memory, too. What is copied into a buffer must come behind what
threads did with these bytes; whoever reads it has waited for the copy at an mbarrier himself, and needs nothing more.
What a product reads while the threads go on (`isAsync`) flies: no barrier settles it, and it counts as read where
products are waited for. An arrival at an mbarrier says that the threads are done with what stands in front of it: where
one arrives for all, the others come first.

An atomic operation that releases begins with a barrier of its own, which settles what was before.

Warps that are specialized meet before and after; each group of them waits at barriers of its own in between.

Branches join what their ends left; a loop is followed until another round adds nothing, so that the end of an iteration
is seen by the beginning of the next. Barriers that were found necessary stay, and what follows knows of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..dialects import gpu, tt, ttg
from ..dialects.ttg_context import num_warps
from ..ir import (
    PURE,
    READ,
    WRITE,
    Completion,
    IntegerAttr,
    MemoryAccess,
    Operation,
    Value,
    ViewLike,
    WaitLike,
    constant_of,
    memory_effects,
)
from ..support.lazy import LazyModule
from .allocation import Allocation, Buffer, stride_bytes
from .buffers import is_buffer
from .dataflow import DenseForward

__all__ = ["NOTHING", "Barriers", "State", "Use", "Walker", "find_barriers", "needs_barrier_before"]

_exchange = LazyModule(".exchange", __package__)
_tensormaps = LazyModule(".tensormaps", __package__)


class Use(NamedTuple):
    """Bytes from `first` up to `end` that are read, or written; what `flies` is read until it has been waited for."""

    first: int
    end: int
    writes: bool
    flies: bool = False

    def clashes(self, other: Use) -> bool:
        """Whether both touch a byte and one writes it."""
        return (self.writes or other.writes) and self.first < other.end and other.first < self.end


State = frozenset[Use]
NOTHING: State = frozenset()


class Barriers(NamedTuple):
    """Operations that need a barrier in front of them, and waits for copies that need one behind them."""

    before: set[Operation]
    after: set[Operation]


def met(state: State) -> State:
    """What is unsettled behind a barrier."""
    return frozenset(use for use in state if use.flies) if state else state


def find_barriers(func: Operation, allocation: Allocation) -> Barriers:
    """Where a function needs barriers that it does not have."""
    walker = Walker(allocation)
    walker.run(func, NOTHING)
    return walker.found


def is_barrier(op: Operation | None) -> bool:
    """Whether all threads of the block wait here, and see each other's shared memory after it."""
    if isinstance(op, ttg.Barrier):
        return bool(op.addrSpace & ttg.AddrSpace.local)
    if op is not None and op.name == "ttng.cluster_barrier":
        return not op.relaxed  # type: ignore[attr-defined]
    if op is not None and op.name == "ttng.tensormap_fenceproxy_acquire":
        return _tensormaps.ends_run(op)
    return isinstance(op, gpu.Barrier) or (op is not None and op.name == "ttng.cluster_wait")


def needs_barrier_before(op: Operation) -> bool:
    """Whether the lowering of `op` begins with a barrier: an atomic access that releases what all threads have written.

    So it needs no other.
    """
    return isinstance(op, MemoryAccess) and op.releases


def _waits_for_own_copies(op: Operation | None) -> bool:
    """Whether a thread waits here for copies that it has started; other threads learn of these by a barrier."""
    return isinstance(op, WaitLike) and op.waits_for in (Completion.COPY_GROUP, Completion.BULK_GROUP)


def speaks_for_all(op: Any) -> bool:
    """Whether one thread of the block arrives at an mbarrier in the name of all; else one of each warp does."""
    if op.name == "ttng.arrive_barrier":
        return op.count % (num_warps(op) or 1) != 0  # type: ignore[no-any-return]
    return op.name == "ttng.barrier_expect"  # type: ignore[no-any-return]


class Walker(DenseForward[State]):
    """Follows one function; what it finds is kept from walk to walk."""

    bottom = NOTHING
    verifies_monotone = False  # a barrier found later in a walk settles more than was settled before

    def __init__(self, allocation: Allocation) -> None:
        super().__init__()
        self.allocation = allocation
        self.found = Barriers(set(), set())

    def merge(self, first: State, second: State) -> State:
        """What is unsettled on either path."""
        return first | second

    def run(self, func: Operation, state: State) -> None:
        """Walk a function that begins with `state`, until a walk finds no further barrier."""
        known = -1
        while len(self.found.before) > known:
            known = len(self.found.before)
            self.region(func.regions[0], state)

    # -- control flow -------------------------------------------------------------------------------------------------

    def operation(self, op: Operation, state: State) -> State:
        """What is unsettled behind an operation with regions."""
        if isinstance(op, ttg.WarpSpecialize):
            return self.specialize(op, state)
        return super().operation(op, state)

    def transfer(self, op: Operation, state: State) -> State:
        """What is unsettled behind an operation without control flow."""
        if is_barrier(op):
            return met(state)
        if _waits_for_own_copies(op):
            if is_barrier(op.next) or _waits_for_own_copies(op.next) or isinstance(op.next, tt.Return):
                return state  # the barrier there is for this one, too; what ends needs none
            self.found.after.add(op)
            return met(state)
        return self.access(op, state)

    def specialize(self, op: ttg.WarpSpecialize, state: State) -> State:
        """All meet where the regions begin and where they have ended; between these, each keeps to its own memory.

        What they share is ordered by the barriers that the program has for it (`ttng.wait_barrier`).
        """
        own = self.allocation.buffers.get(op)
        if own is not None:  # what is captured
            self.settled(op, state, [Use(own.offset, own.end, True)])
        for region in (op.regions[0], *op.partitions.regions):
            self.region(region, NOTHING)
        return NOTHING

    # -- operations ---------------------------------------------------------------------------------------------

    def access(self, op: Operation, state: State) -> State:
        """What is unsettled behind an operation without control flow; a barrier is asked for where it is needed."""
        own = self.allocation.buffers.get(op)
        explicit = self.explicit(op)
        if needs_barrier_before(op):
            state = met(state)
        if speaks_for_all(op) and not all(use.flies for use in state):
            self.found.before.add(op)
            state = met(state)
        if op.name == "ttng.warp_group_dot_wait":
            state = self.landed(op, state)
        if isinstance(op, tt.Call):
            uses = explicit | _both(own)
            return self.settled(op, state, uses) | uses
        if own is not None and not isinstance(op, ttg.LocalAlloc):
            return self.scratch(op, own, state, explicit)
        if not explicit:
            return state
        completes = op.completes if isinstance(op, MemoryAccess) else None
        left = NOTHING if completes is Completion.MBARRIER else explicit  # waited for there
        if completes is Completion.WGMMA_GROUP:
            left |= {use._replace(flies=True) for use in explicit}
        return self.settled(op, state, explicit) | left

    @staticmethod
    def landed(op: Any, state: State) -> State:
        """What flew has been read now; all of it has landed where no product may still be under way."""
        read = {use._replace(flies=False) for use in state if use.flies}
        return (state if op.pendings else state - met(state)) | read

    def scratch(self, op: Operation, own: Buffer, state: State, explicit: State) -> State:
        writes = frozenset([Use(own.offset, own.end, True)])
        state = self.settled(op, state, writes | explicit)
        left = frozenset([Use(own.offset, own.end, False)]) | explicit
        return (met(state) if _exchange.waits_inside(op) else state | writes) | left

    def settled(self, op: Operation, state: State, uses: Iterable[Use]) -> State:
        """What is unsettled in front of `op`, with a barrier there if one of its uses clashes."""
        if op in self.found.before:
            return met(state)
        if any(use.clashes(other) for use in uses for other in state if not other.flies):
            self.found.before.add(op)
            return met(state)
        return state

    def explicit(self, op: Operation) -> State:
        """The buffers that an operation reads and writes."""
        if isinstance(op, MemoryAccess):
            touched = [(v, access.effects) for access in op.accesses for v in access.values(op)]
        elif op.traits & PURE:
            touched = []
        else:
            effects = memory_effects(op)
            touched = [(v, effects) for v in op.operands]
        return frozenset(
            Use(first, end, writes)
            for value, effects in touched
            if is_buffer(value)
            for writes in (False, True)
            if effects & (WRITE if writes else READ)
            for first, end in self.bytes_of(value)
        )

    def bytes_of(self, value: Value) -> list[tuple[int, int]]:
        """Where what a value stands for begins and ends; of several buffers behind each other the one selected."""
        maker = value.defining_op
        if isinstance(maker, ttg.MemDescIndex):
            index, whole = constant_of(maker.index), maker.src.defining_op
            stride = stride_bytes(maker.src.type)  # type: ignore[arg-type]
            if isinstance(index, IntegerAttr) and stride is not None and isinstance(whole, ttg.LocalAlloc):
                first = self.allocation.buffers[whole].offset + index.value * stride
                return [(first, first + stride)]
        if isinstance(maker, ViewLike):
            return self.bytes_of(maker.view_source)
        return [(buffer.offset, buffer.end) for buffer in self.allocation.of(value)]


def _both(buffer: Buffer | None) -> State:
    if buffer is None:
        return NOTHING
    return frozenset(Use(buffer.offset, buffer.end, writes) for writes in (False, True))
