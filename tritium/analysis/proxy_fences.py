"""Where threads must tell asynchronous units what they have written to shared memory.

Threads write shared memory through the generic proxy, the copy engine and wgmma access it through the async proxy: what
one has written the other need not see, nor even find in order, until a `fence.proxy.async` stands between the two (PTX
ISA 8.7, section 8.5.2). So a fence is needed in front of an operation that accesses bytes asynchronously which threads
may have written since the last fence:

    ttg.local_store %x, %a                  // or scratch of a conversion, where %b now is
    ttng.fence_async_shared                 // <- here
    ttng.async_tma_copy_global_to_local …[…] %b, …

Paths are followed as for barriers (`membar`), which do not settle this. The fence stands behind the writes and in front
of the barrier that the operation needs anyway: each thread fences what it has written itself.

A fence that nothing was written in front of, on any path, since the last one, orders nothing; it costs a wait for all
accesses to memory that the thread has under way. What an asynchronous copy of threads brings is written where the copy
is waited for:

    ttg.async_wait …
    ttng.fence_async_shared                 // for what was copied
    ttng.warp_group_dot %x, %y, …
    ttng.fence_async_shared                 // for nothing
    ttng.warp_group_dot %u, %v, …
"""

from __future__ import annotations

from ..dialects import ttg
from ..ir import Completion, MemoryAccess, Operation, WaitLike
from .allocation import Allocation
from .buffers import is_buffer
from .membar import NOTHING, State, Use, Walker

__all__ = ["find_fences", "find_idle_fences", "uses_async_proxy"]


def uses_async_proxy(op: Operation) -> bool:
    """Whether `op` accesses buffers through the async proxy."""
    return isinstance(op, MemoryAccess) and any(access.async_proxy for access in op.accesses)


_FENCE = "ttng.fence_async_shared"


def find_fences(func: Operation, allocation: Allocation) -> set[Operation]:
    """The operations of a function that need a fence in front of them.

    Whoever calls a function may have written all the memory that it is given.
    """
    walker = _Writes(allocation)
    walker.run(func, _start(func, allocation))
    return walker.found.before


def find_idle_fences(func: Operation, allocation: Allocation) -> list[Operation]:
    """The fences of a function in front of which nothing was written since the last one.

    Warps of several partitions write for each other, and buffers that are arguments may lie anywhere, which is not
    followed: with these, all fences count.
    """
    fences = [op for op in func.walk() if op.name == _FENCE]
    if len(fences) < 2 or any(op.__class__ is ttg.WarpSpecialize for op in func.walk()):
        return []
    if any(is_buffer(argument) for argument in func.regions[0].blocks[0].args):
        return []
    walker = _Fences(allocation, func)
    walker.region(func.regions[0], _start(func, allocation))
    return [op for op in fences if op not in walker.busy]


def _start(func: Operation, allocation: Allocation) -> State:
    """What was written before a function begins."""
    called = getattr(func, "sym_visibility", None) == "private"
    return frozenset([Use(0, max(allocation.size, 1), True)]) if called else NOTHING


class _Writes(Walker):
    """Follows what threads have written since the last fence."""

    def transfer(self, op: Operation, state: State) -> State:
        """Fences settle; barriers and waits do not."""
        if op.name == _FENCE:
            return self.fence(op, state)
        if not uses_async_proxy(op):
            return state | self.written(op)
        return self.settled(op, state, self.accessed(op))

    def accessed(self, op: Operation) -> list[Use]:
        """The bytes that an asynchronous unit reads or writes, each as what clashes with any write."""
        accesses = [access for access in op.accesses if access.async_proxy]  # type: ignore[attr-defined]
        buffers = [v for access in accesses for v in access.values(op) if is_buffer(v)]
        return [Use(*bytes_, True) for v in buffers for bytes_ in self.bytes_of(v)]

    def fence(self, op: Operation, state: State) -> State:
        """What is left to be fenced behind a fence."""
        return NOTHING

    def specialize(self, op: ttg.WarpSpecialize, state: State) -> State:
        """Each partition begins with what was written before, and leaves what it has written."""
        state |= self.written(op)
        left = state
        for region in (op.regions[0], *op.partitions.regions):
            left |= self.region(region, state)
        return left

    def written(self, op: Operation) -> State:
        """The bytes that threads write, in buffers and in scratch; a function that is called may write all it has."""
        own = self.allocation.buffers.get(op)
        uses = {use for use in self.explicit(op) if use.writes}
        if own is not None and not isinstance(op, ttg.LocalAlloc):
            uses.add(Use(own.offset, own.end, True))
        return frozenset(uses)


class _Fences(_Writes):
    """Follows the same through a function that has its fences, and tells which have something to order."""

    def __init__(self, allocation: Allocation, func: Operation) -> None:
        super().__init__(allocation)
        self.busy: set[Operation] = set()
        copies = [op for op in func.walk() if isinstance(op, MemoryAccess) and op.completes is Completion.COPY_GROUP]
        self.copied: State = frozenset(use for op in copies for use in self.explicit(op))
        units = [op for op in func.walk() if uses_async_proxy(op)]
        self.reached = frozenset(use for op in units for use in self.accessed(op))

    def transfer(self, op: Operation, state: State) -> State:
        """A wait, be it at a barrier of memory, is where what was copied is written."""
        state = super().transfer(op, state)
        return state | self.copied if isinstance(op, WaitLike) and op.waits_for in _ARRIVED else state

    def fence(self, op: Operation, state: State) -> State:
        if any(use.clashes(other) for use in state for other in self.reached):
            self.busy.add(op)
        return super().fence(op, state)


_ARRIVED = (Completion.COPY_GROUP, Completion.MBARRIER)
"""How copies by threads complete: in groups, or at an mbarrier that they arrive at."""
