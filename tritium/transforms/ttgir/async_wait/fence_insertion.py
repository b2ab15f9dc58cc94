"""fence-insertion: products by warp groups see what threads have written to shared memory.

    %x = ttg.local_alloc %a : …
    %d = ttng.warp_group_dot %x, %y, %c

    %x = ttg.local_alloc %a : …
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %x, %y, %c

Threads and asynchronous units reach shared memory on two ways ("proxies", PTX ISA 8.7, section 8.4); only a fence
orders what takes one before what takes the other. Stores take the first, and so do copies by `cp.async`; the copy
engine (TMA) takes the second one, as `wgmma` does, and needs no fence.

A fence stands in front of each product that reads a buffer which threads have written. Where all of that was in front
of a loop around the product, so is the fence. The barrier that lets all threads see the buffer comes between fence and
product (`insert-barriers`).
"""

from __future__ import annotations

from ....analysis.buffers import buffers_of, is_buffer
from ....dialects import ttg, ttng
from ....dialects.ttg_context import capability_of
from ....ir import LOOP, WRITE, Operation, count, functions_of, memory_effects, pass_on

__all__ = ["fence_insertion"]


@pass_on("module", statistics={"fences": "fences in front of products"})
def fence_insertion(module: Operation) -> bool:
    """Order writes of threads before what products by warp groups read."""
    if (capability_of(module) or 0) < 90:
        return False
    changed = 0
    for func in functions_of(module):
        dots = [op for op in func.walk() if op.__class__ is ttng.WarpGroupDot]
        if not dots:
            continue
        values = buffers_of(func)
        writers = _writers(func, values)
        for dot in dots:
            changed += _fence(dot, values, writers)
    count("fences", changed)
    return changed > 0


def _writers(func: Operation, values: dict) -> dict[Operation, set[Operation]]:  # type: ignore[type-arg]
    """For each allocation the operations by which threads write it."""
    out: dict[Operation, set[Operation]] = {}
    for op in func.walk():
        if op.__class__ is ttg.LocalAlloc:
            written = [op.results[0]] if op.operands else []
        elif memory_effects(op) & WRITE and not _is_asynchronous(op):
            written = [v for v in op.operands if is_buffer(v)]
        else:
            written = []
        for value in written:
            for alloc in values.get(value, ()):
                out.setdefault(alloc, set()).add(op)
    return out


def _is_asynchronous(op: Operation) -> bool:
    """Whether what an operation writes takes the second way, or is nothing that could be read."""
    return op.name.startswith("ttng.") or bool(op.regions) or op.__class__ is ttg.LocalDealloc


def _fence(dot: Operation, values: dict, writers: dict[Operation, set[Operation]]) -> bool:  # type: ignore[type-arg]
    """Put a fence where the product needs it; whether it did."""
    written: set[Operation] = set()
    for value in dot.operands:
        if is_buffer(value):
            # Who knows what has been done to a buffer that comes from elsewhere.
            for alloc in values.get(value, [dot]):
                written |= writers.get(alloc, set()) if alloc is not dot else {dot}
    if not written:
        return False
    anchor, around = dot, dot.parent_op
    while around is not None and around.__class__ not in (ttg.WarpSpecialize, ttg.WarpSpecializePartitions):
        if around.traits & LOOP:
            if any(around.is_ancestor_of(op) for op in written):
                break
            anchor = around
        around = around.parent_op
    before = anchor.prev
    if before.__class__ is ttng.FenceAsyncShared and not before.bCluster:  # type: ignore[union-attr]
        return False
    anchor.parent.insert_before(ttng.FenceAsyncShared(bCluster=False, loc=dot.loc), anchor)  # type: ignore[union-attr]
    return True
