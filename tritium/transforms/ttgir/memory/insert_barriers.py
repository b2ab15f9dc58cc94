"""insert-barriers: Insert CTA barriers for shared-memory hazards.

    ttg.local_store %x, %b                      =>   ttg.local_store %x, %b
    %y = ttg.local_load %b                           ttg.barrier local
                                                     %y = ttg.local_load %b

Hazards follow from the offsets that allocate-shared-memory assigned, by the rules of `analysis/membar`: a RAW, WAR or
WAW dependence between two accesses of the same bytes needs a barrier on every path between them, loop back edges
included; and every wait for asynchronous copies is followed by one. Operations that exchange data through their own
scratch synchronize internally.

A barrier of the program itself (`tl.debug_barrier`) is removed where the next operation, a releasing atomic, starts
with one anyway.

Buffers with disjoint live ranges may be assigned the same bytes, so that their uses need a barrier as well. Hence this
pass follows allocate-shared-memory, and no pass after it moves memory operations.
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
        "barriers inserted": "barriers inserted for hazards",
        "barriers removed": "the program's barriers before operations that start with one",
    },
)
def insert_barriers(module: Operation) -> bool:
    """Insert barriers for shared-memory hazards between threads of a CTA."""
    inserted = removed = 0
    for func, allocation in callees_first(module, allocated).items():
        found = find_barriers(func, allocation)
        for op in [op for op in func.walk() if op in found.before or op in found.after]:
            if op in found.before:
                _barrier(op).move_before(op)
            if op in found.after:
                _barrier(op).move_after(op)
        inserted += len(found.before) + len(found.after)
        removed += _remove_redundant(func)
    count("barriers inserted", inserted)
    count("barriers removed", removed)
    return inserted + removed > 0


def _remove_redundant(func: Operation) -> int:
    """Remove the program's barriers right before an operation that starts with one."""
    own = [op for op in func.walk() if isinstance(op, (ttg.Barrier, gpu.Barrier))]
    doubled = [op for op in own if op.next is not None and needs_barrier_before(op.next)]
    for op in doubled:
        op.erase()
    return len(doubled)


def _barrier(op: Operation) -> Operation:
    """Build a barrier in the block of `op`."""
    new = ttg.Barrier(addrSpace=ttg.AddrSpace.local, loc=op.loc)
    assert op.parent is not None
    op.parent.insert_before(new, op)
    return new
