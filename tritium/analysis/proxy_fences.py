"""Proxy fences: where writes of threads to shared memory must be made visible to asynchronous units.

Threads access shared memory through the generic proxy, TMA and WGMMA through the async proxy: a write of one is neither
visible to the other nor ordered with its accesses before a `fence.proxy.async` (PTX ISA 8.7, section 8.5.2). A fence is
needed before an operation that asynchronously accesses bytes which threads may have written since the last fence:

    ttg.local_store %x, %a                  // or scratch of a conversion in the bytes of %b
    ttng.fence_async_shared                 // <- here
    ttng.async_tma_copy_global_to_local …[…] %b, …

The analysis follows paths as the one for barriers does (`membar`); barriers order no proxies. The fence is placed after
the writes and before the barrier that the operation needs anyway: each thread fences its own writes.

A fence with no write on any path since the last one orders nothing, but waits for all pending accesses of the thread.
An asynchronous copy by threads counts as a write where it is waited for:

    ttg.async_wait …
    ttng.fence_async_shared                 // for the copied data
    ttng.warp_group_dot %x, %y, …
    ttng.fence_async_shared                 // idle
    ttng.warp_group_dot %u, %v, …
"""

from __future__ import annotations

from ..dialects import ttg
from ..ir import Completion, MemoryAccess, Operation, WaitLike
from .allocation import Allocation
from .buffers import is_buffer
from .membar import NOTHING, Access, HazardAnalysis, State

__all__ = ["find_fences", "find_idle_fences", "uses_async_proxy"]


def uses_async_proxy(op: Operation) -> bool:
    """Whether `op` accesses buffers through the async proxy."""
    return isinstance(op, MemoryAccess) and any(access.async_proxy for access in op.accesses)


_FENCE = "ttng.fence_async_shared"


def find_fences(func: Operation, allocation: Allocation) -> set[Operation]:
    """The operations of a function that need a fence before them.

    The caller of a function may have written all the memory that it passes.
    """
    hazards = _Writes(allocation)
    hazards.run(func, _start(func, allocation))
    return hazards.found.before


def find_idle_fences(func: Operation, allocation: Allocation) -> list[Operation]:
    """The fences of a function with no write on any path since the last one.

    Writes across partitions of specialized warps and aliases of buffer arguments are not tracked: with these, no fence
    is idle.
    """
    fences = [op for op in func.walk() if op.name == _FENCE]
    if len(fences) < 2 or any(op.__class__ is ttg.WarpSpecialize for op in func.walk()):
        return []
    if any(is_buffer(argument) for argument in func.regions[0].blocks[0].args):
        return []
    hazards = _Fences(allocation, func)
    hazards.region(func.regions[0], _start(func, allocation))
    return [op for op in fences if op not in hazards.busy]


def _start(func: Operation, allocation: Allocation) -> State:
    """The bytes that may be written before a function begins."""
    called = getattr(func, "sym_visibility", None) == "private"
    return frozenset([Access(0, max(allocation.size, 1), True)]) if called else NOTHING


_ANYWHERE = (0, 1 << 32)


class _Writes(HazardAnalysis):
    """The bytes that threads may have written since the last fence."""

    def transfer(self, op: Operation, state: State) -> State:
        """Fences order writes; barriers and waits do not."""
        if op.name == _FENCE:
            return self.fence(op, state)
        if not uses_async_proxy(op):
            return state | self.written(op)
        return self.order(op, state, self.accessed(op))

    def accessed(self, op: Operation) -> list[Access]:
        """The bytes accessed through the async proxy, as writes: each conflicts with any write.

        A buffer that a function is passed may have any.
        """
        accesses = [access for access in op.accesses if access.async_proxy]  # type: ignore[attr-defined]
        buffers = [v for access in accesses for v in access.values(op) if is_buffer(v)]
        return [Access(*bytes_, True) for v in buffers for bytes_ in self.bytes_of(v) or [_ANYWHERE]]

    def fence(self, op: Operation, state: State) -> State:
        """The state after a fence."""
        return NOTHING

    def warp_specialize(self, op: ttg.WarpSpecialize, state: State) -> State:
        """Each partition begins with the writes before the operation and adds its own."""
        state |= self.written(op)
        left = state
        for region in (op.regions[0], *op.partitions.regions):
            left |= self.region(region, state)
        return left

    def written(self, op: Operation) -> State:
        """The bytes that threads write, in buffers and in scratch; a call may write all memory of its callee."""
        own = self.allocation.buffers.get(op)
        accesses = {access for access in self.buffer_accesses(op) if access.writes}
        if own is not None and not isinstance(op, ttg.LocalAlloc):
            accesses.add(Access(own.offset, own.end, True))
        return frozenset(accesses)


class _Fences(_Writes):
    """The same through a function with fences; `busy` are those that order a write."""

    def __init__(self, allocation: Allocation, func: Operation) -> None:
        super().__init__(allocation)
        self.busy: set[Operation] = set()
        copies = [op for op in func.walk() if isinstance(op, MemoryAccess) and op.completes is Completion.COPY_GROUP]
        self.copied: State = frozenset(access for op in copies for access in self.buffer_accesses(op))
        units = [op for op in func.walk() if uses_async_proxy(op)]
        self.reached = frozenset(access for op in units for access in self.accessed(op))

    def transfer(self, op: Operation, state: State) -> State:
        """Asynchronous copies count as writes where they are waited for."""
        state = super().transfer(op, state)
        return state | self.copied if isinstance(op, WaitLike) and op.waits_for in _ARRIVED else state

    def fence(self, op: Operation, state: State) -> State:
        if any(access.conflicts(other) for access in state for other in self.reached):
            self.busy.add(op)
        return super().fence(op, state)


_ARRIVED = (Completion.COPY_GROUP, Completion.MBARRIER)
"""How copies by threads complete: in groups, or at an mbarrier that they arrive at."""
