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
"""

from __future__ import annotations

from ..dialects import scf, ttg
from ..ir import Operation
from .allocation import Allocation
from .buffers import is_buffer
from .membar import NOTHING, State, Use, Walker

__all__ = ["ASYNCHRONOUS", "find_fences"]

ASYNCHRONOUS = {
    "ttng.async_tma_copy_global_to_local": ("result",),
    "ttng.async_tma_gather": ("result",),
    "ttng.async_tma_copy_local_to_global": ("src",),
    "ttng.async_tma_reduce": ("src",),
    "ttng.async_tma_scatter": ("src",),
    "ttng.warp_group_dot": ("a", "b"),
}
"""What accesses buffers through the async proxy, and which of its operands these are."""

_FLOW = (scf.For, scf.While, scf.If, ttg.WarpSpecialize)


def find_fences(func: Operation, allocation: Allocation) -> set[Operation]:
    """The operations of a function that need a fence in front of them.

    Whoever calls a function may have written all the memory that it is given.
    """
    walker = _Writes(allocation)
    called = getattr(func, "sym_visibility", None) == "private"
    start = frozenset([Use(0, max(allocation.size, 1), True)]) if called else NOTHING
    while True:
        known = len(walker.found.before)
        walker.region(func.regions[0], start)
        if len(walker.found.before) == known:
            return walker.found.before


class _Writes(Walker):
    """Follows what threads have written since the last fence."""

    def operation(self, op: Operation, state: State) -> State:
        """Fences settle; barriers and waits do not."""
        if isinstance(op, _FLOW):
            return super().operation(op, state)
        if op.name == "ttng.fence_async_shared":
            return NOTHING
        names = ASYNCHRONOUS.get(op.name)
        if names is None:
            return state | self.written(op)
        buffers = [v for name in names if is_buffer(v := getattr(op, name))]
        return self.settled(op, state, [Use(*bytes_, True) for v in buffers for bytes_ in self.bytes_of(v)])

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
