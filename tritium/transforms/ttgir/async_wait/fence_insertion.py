"""fence-insertion: Insert async-proxy fences before WGMMAs that read shared memory written by threads.

    %x = ttg.local_alloc %a : …
    %d = ttng.warp_group_dot %x, %y, %c

    %x = ttg.local_alloc %a : …
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %x, %y, %c

Threads access shared memory through the generic proxy, `wgmma` and TMA through the async proxy (PTX ISA 8.7, section
8.4); only a fence orders accesses of one before those of the other. Stores and `cp.async` write through the generic
proxy; TMA writes need no fence.

The fence is inserted before each dot that reads a buffer which threads have written. If all writes precede the loop
around the dot, the fence does, too. The barrier that makes the writes visible to all threads goes between fence and dot
(`insert-barriers`).
"""

from __future__ import annotations

from ....analysis.buffers import buffers_of, is_buffer
from ....dialects import ttg, ttng
from ....dialects.ttg_context import has_feature
from ....hardware.nvidia_features import WGMMA
from ....ir import WRITE, LoopLike, Operation, count, functions_of, memory_effects, pass_on

__all__ = ["fence_insertion"]


@pass_on("module", statistics={"fences": "fences before dots"})
def fence_insertion(module: Operation) -> bool:
    """Insert fences between generic-proxy writes and the WGMMAs that read them."""
    if not has_feature(module, WGMMA):
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
    """For each allocation, the operations that write it through the generic proxy."""
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
    """Whether an operation writes through the async proxy, or writes nothing that could be read."""
    return op.name.startswith("ttng.") or bool(op.regions) or op.__class__ is ttg.LocalDealloc


def _fence(dot: Operation, values: dict, writers: dict[Operation, set[Operation]]) -> bool:  # type: ignore[type-arg]
    """Insert the fence that a dot needs; returns whether it needs one."""
    written: set[Operation] = set()
    for value in dot.operands:
        if is_buffer(value):
            # The writers of a buffer passed in from elsewhere are unknown.
            for alloc in values.get(value, [dot]):
                written |= writers.get(alloc, set()) if alloc is not dot else {dot}
    if not written:
        return False
    anchor, around = dot, dot.parent_op
    while around is not None and around.__class__ not in (ttg.WarpSpecialize, ttg.WarpSpecializePartitions):
        if isinstance(around, LoopLike):
            if any(around.is_ancestor_of(op) for op in written):
                break
            anchor = around
        around = around.parent_op
    before = anchor.prev
    if before.__class__ is ttng.FenceAsyncShared and not before.bCluster:  # type: ignore[union-attr]
        return False
    anchor.parent.insert_before(ttng.FenceAsyncShared(bCluster=False, loc=dot.loc), anchor)  # type: ignore[union-attr]
    return True
