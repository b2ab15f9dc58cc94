"""CTA barriers that shared-memory hazards require: which operations need one before them, which waits one after.

A dense forward dataflow analysis (`dataflow`): the state at a point is the set of accesses to shared memory, as byte
ranges, since the last barrier. An operation needs a barrier before it where one of its accesses is a

    read after write (RAW),   write after read (WAR),   or write after write (WAW)

of such an access. The rules:

- A barrier orders everything before it. An operation with scratch writes it, synchronizes the CTA, and reads it:
  earlier accesses are ordered, the read remains. A conversion within warps synchronizes only warps and orders nothing.
- A call accesses all the shared memory of its callee.
- The data of an asynchronous copy are visible to the thread that waits for it: a barrier after the wait makes them
  visible to the CTA.
- A TMA load writes its buffer after what threads did with these bytes. Its readers wait at an mbarrier and need no
  barrier. The operands of a WGMMA with `isAsync` are in flight: no barrier orders these reads, they end at a
  `warp_group_dot_wait`. An arrival at an mbarrier by one thread for the CTA follows a barrier.
- An atomic operation that releases begins with a barrier of its own.
- `ttg.warp_specialize` synchronizes all warps before and after; each partition has barriers of its own in between.

Paths join by union, and loops run to a fixed point, so that the end of an iteration meets the beginning of the next. A
barrier that was found stays, and orders accesses from then on: the function is walked until no walk finds another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..dialects import gpu, tt, ttg
from ..dialects.ttg_context import num_warps
from ..dialects.ttg_memory import MemDescType
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
from .allocation import Allocation, Buffer, buffer_bytes, stride_bytes
from .buffers import is_buffer
from .dataflow import DenseForward

__all__ = ["NOTHING", "Barriers", "State", "Access", "HazardAnalysis", "find_barriers", "needs_barrier_before"]

_exchange = LazyModule(".exchange", __package__)
_tensormaps = LazyModule(".tensormaps", __package__)


class Access(NamedTuple):
    """Bytes from `first` up to `end` that are read or written; `in_flight`: read by a WGMMA until it is waited for."""

    first: int
    end: int
    writes: bool
    in_flight: bool = False

    def conflicts(self, other: Access) -> bool:
        """Whether both access a byte and one writes it."""
        return (self.writes or other.writes) and self.first < other.end and other.first < self.end


State = frozenset[Access]
NOTHING: State = frozenset()


class Barriers(NamedTuple):
    """Operations that need a barrier before them, and waits for copies that need one after them."""

    before: set[Operation]
    after: set[Operation]


def after_barrier(state: State) -> State:
    """The state after a barrier."""
    return frozenset(access for access in state if access.in_flight) if state else state


def find_barriers(func: Operation, allocation: Allocation) -> Barriers:
    """The barriers that a function needs and does not have."""
    hazards = HazardAnalysis(allocation)
    hazards.run(func, NOTHING)
    return hazards.found


def is_barrier(op: Operation | None) -> bool:
    """Whether `op` synchronizes the CTA and makes its accesses to shared memory visible."""
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


def arrives_for_cta(op: Any) -> bool:
    """Whether one thread arrives at an mbarrier for the whole CTA; otherwise one thread of each warp does."""
    if op.name == "ttng.arrive_barrier":
        return op.count % (num_warps(op) or 1) != 0
    return op.name == "ttng.barrier_expect"


class HazardAnalysis(DenseForward[State]):
    """The accesses of one function that no barrier orders yet; `found` is kept from walk to walk."""

    bottom = NOTHING
    verifies_monotone = False  # a barrier found in one walk orders accesses in the next

    def __init__(self, allocation: Allocation) -> None:
        super().__init__()
        self.allocation = allocation
        self.found = Barriers(set(), set())

    def merge(self, first: State, second: State) -> State:
        """The accesses on either path."""
        return first | second

    def run(self, func: Operation, state: State) -> None:
        """Walk a function that begins with `state`, until a walk finds no further barrier."""
        known = -1
        while len(self.found.before) > known:
            known = len(self.found.before)
            self.region(func.regions[0], state)

    # -- control flow -------------------------------------------------------------------------------------------------

    def operation(self, op: Operation, state: State) -> State:
        """The state after an operation with regions."""
        if isinstance(op, ttg.WarpSpecialize):
            return self.warp_specialize(op, state)
        return super().operation(op, state)

    def transfer(self, op: Operation, state: State) -> State:
        """The state after an operation without control flow."""
        if is_barrier(op):
            return after_barrier(state)
        if _waits_for_own_copies(op):
            if is_barrier(op.next) or _waits_for_own_copies(op.next) or isinstance(op.next, tt.Return):
                return state  # that barrier serves this wait, too; none is needed before the end
            self.found.after.add(op)
            return after_barrier(state)
        return self.access(op, state)

    def warp_specialize(self, op: ttg.WarpSpecialize, state: State) -> State:
        """All warps synchronize before the regions and after them.

        In between, mbarriers of the program (`ttng.wait_barrier`) order accesses to memory that partitions share.
        """
        own = self.allocation.buffers.get(op)
        if own is not None:  # the captures
            self.order(op, state, [Access(own.offset, own.end, True)])
        for region in (op.regions[0], *op.partitions.regions):
            self.region(region, NOTHING)
        return NOTHING

    # -- operations ---------------------------------------------------------------------------------------------

    def access(self, op: Operation, state: State) -> State:
        """The state after an operation that may access shared memory; requests a barrier before it where needed."""
        own = self.allocation.buffers.get(op)
        own_accesses = self.buffer_accesses(op)
        if needs_barrier_before(op):
            state = after_barrier(state)
        if arrives_for_cta(op) and not all(access.in_flight for access in state):
            self.found.before.add(op)
            state = after_barrier(state)
        if op.name == "ttng.warp_group_dot_wait":
            state = self.after_wgmma_wait(op, state)
        if isinstance(op, tt.Call):
            accesses = own_accesses | _both(own)
            return self.order(op, state, accesses) | accesses
        if own is not None and not isinstance(op, ttg.LocalAlloc):
            return self.scratch(op, own, state, own_accesses)
        if not own_accesses:
            return state
        completes = op.completes if isinstance(op, MemoryAccess) else None
        left = NOTHING if completes is Completion.MBARRIER else own_accesses  # waited for there
        if completes is Completion.WGMMA_GROUP:
            left |= {access._replace(in_flight=True) for access in own_accesses}
        return self.order(op, state, own_accesses) | left

    @staticmethod
    def after_wgmma_wait(op: Any, state: State) -> State:
        """Reads in flight are complete, and ordered by barriers from now on; all of them if no WGMMA may be pending."""
        read = {access._replace(in_flight=False) for access in state if access.in_flight}
        return (state if op.pendings else state - after_barrier(state)) | read

    def scratch(self, op: Operation, own: Buffer, state: State, own_accesses: State) -> State:
        writes = frozenset([Access(own.offset, own.end, True)])
        state = self.order(op, state, writes | own_accesses)
        left = frozenset([Access(own.offset, own.end, False)]) | own_accesses
        return (after_barrier(state) if _exchange.synchronizes_cta(op) else state | writes) | left

    def order(self, op: Operation, state: State, accesses: Iterable[Access]) -> State:
        """The state before the effects of `op`: after a barrier, if one of its accesses conflicts with the state."""
        if op in self.found.before:
            return after_barrier(state)
        if any(access.conflicts(other) for access in accesses for other in state if not other.in_flight):
            self.found.before.add(op)
            return after_barrier(state)
        return state

    def buffer_accesses(self, op: Operation) -> State:
        """The accesses of an operation to buffers."""
        if isinstance(op, MemoryAccess):
            touched = [(v, access.effects) for access in op.accesses for v in access.values(op)]
        elif op.traits & PURE:
            touched = []
        else:
            effects = memory_effects(op)
            touched = [(v, effects) for v in op.operands]
        return frozenset(
            Access(first, end, writes)
            for value, effects in touched
            if is_buffer(value)
            for writes in (False, True)
            if effects & (WRITE if writes else READ)
            for first, end in self.bytes_of(value)
        )

    def bytes_of(self, value: Value) -> list[tuple[int, int]]:
        """The byte ranges that a value may refer to; of a constant index into several buffers, the one selected."""
        maker = value.defining_op
        if isinstance(maker, ttg.MemDescIndex):
            index, whole = constant_of(maker.index), maker.src.defining_op
            stride = stride_bytes(maker.src.type)  # type: ignore[arg-type]
            if isinstance(index, IntegerAttr) and stride is not None and isinstance(whole, ttg.LocalAlloc):
                first = self.allocation.buffers[whole].offset + index.value * stride
                return [(first, first + stride)]
        if isinstance(maker, ttg.MemDescReinterpret) and _is_larger(maker):
            return [(buffer.offset, buffer.end) for buffer in self.allocation.of(value)]
        if isinstance(maker, ViewLike):
            return self.bytes_of(maker.view_source)
        return [(buffer.offset, buffer.end) for buffer in self.allocation.of(value)]


def _is_larger(op: ttg.MemDescReinterpret) -> bool:
    """Whether the result continues after the buffer that it begins at, in others of the same allocation."""
    source, result = op.src.type, op.result.type
    assert isinstance(source, MemDescType) and isinstance(result, MemDescType)
    return buffer_bytes(result) > buffer_bytes(source)


def _both(buffer: Buffer | None) -> State:
    if buffer is None:
        return NOTHING
    return frozenset(Access(buffer.offset, buffer.end, writes) for writes in (False, True))
