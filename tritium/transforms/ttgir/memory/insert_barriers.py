"""insert-barriers: let the threads of a block wait for each other where they pass data through shared memory.

    ttg.local_store %x, %b                      =>   ttg.local_store %x, %b
    %y = ttg.local_load %b                           ttg.barrier local
                                                     %y = ttg.local_load %b

Where that is necessary follows from the places that allocate-shared-memory has given, by the rules of
`analysis/membar`: between a use of bytes and an earlier one that no barrier separates from it, if one of the two
writes, along every path, those from the end of a loop to its beginning too; and behind every wait for asynchronous
copies. Operations that pass data inside their own scratch wait inside, by themselves.

A barrier of the kernel's own (`tl.debug_barrier`) goes where the next operation, an atomic one that releases, begins
with one anyway.

Two buffers that are never alive together may have the same bytes: the barrier between their uses is put here as well,
which is why this pass comes after allocate-shared-memory and nothing that moves memory operations comes after it.
"""

from __future__ import annotations

from ....analysis.allocation import allocated
from ....analysis.membar import find_barriers, needs_barrier_before
from ....dialects import gpu, ttg
from ....ir import Operation, count, pass_on
from .allocate_shared_memory import callees_first

__all__ = ["insert_barriers"]


@pass_on(
    "module",
    statistics={
        "barriers inserted": "barriers between uses of shared memory",
        "barriers removed": "barriers of the kernel's own in front of operations that begin with one",
    },
)
def insert_barriers(module: Operation) -> bool:
    """Insert barriers between threads that use the same shared memory."""
    inserted = removed = 0
    for func, allocation in callees_first(module, allocated).items():
        found = find_barriers(func, allocation)
        for op in [op for op in func.walk() if op in found.before or op in found.after]:
            if op in found.before:
                _barrier(op).move_before(op)
            if op in found.after:
                _barrier(op).move_after(op)
        inserted += len(found.before) + len(found.after)
        removed += _remove_doubled(func)
    count("barriers inserted", inserted)
    count("barriers removed", removed)
    return inserted + removed > 0


def _remove_doubled(func: Operation) -> int:
    """Remove barriers of the kernel's own right in front of an operation that begins with one."""
    own = [op for op in func.walk() if isinstance(op, (ttg.Barrier, gpu.Barrier))]
    doubled = [op for op in own if op.next is not None and needs_barrier_before(op.next)]
    for op in doubled:
        op.erase()
    return len(doubled)


def _barrier(op: Operation) -> Operation:
    """A barrier, linked in the block of `op`."""
    new = ttg.Barrier(addrSpace=ttg.AddrSpace.local, loc=op.loc)
    assert op.parent is not None
    op.parent.insert_before(new, op)
    return new
