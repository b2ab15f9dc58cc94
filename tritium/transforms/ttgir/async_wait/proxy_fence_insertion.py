"""proxy-fence-insertion: Insert fences between generic-proxy and async-proxy accesses of the same shared memory.

    ttg.convert_layout %x                     // its scratch overlaps the allocation of %b
    ttng.async_tma_copy_global_to_local %d[%i] %b, %barrier, %true

=>  ttg.convert_layout %x
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_global_to_local %d[%i] %b, %barrier, %true

    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %x, %y, …
    ttng.fence_async_shared {bCluster = false}      // nothing was written since the last one
    %e = ttng.warp_group_dot %u, %v, …

=>  ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %x, %y, …
    %e = ttng.warp_group_dot %u, %v, …

Aliasing is known after allocate-shared-memory; the barrier that must follow a fence is inserted by insert-barriers,
which runs later. `analysis/proxy_fences` decides where fences are needed; fences for values that a program puts into a
buffer for a dot or a TMA store were inserted before (`fence-insertion`, `tma-lowering`), and count.
"""

from __future__ import annotations

from ....analysis.allocation import allocated
from ....analysis.proxy_fences import find_fences, find_idle_fences, uses_async_proxy
from ....dialects import ttng
from ....dialects.ttg_switches import is_on
from ....ir import Builder, Operation, count, pass_on
from ..memory.allocate_shared_memory import callees_first

__all__ = ["proxy_fence_insertion"]


@pass_on(
    "module",
    statistics={
        "fences": "fences between generic-proxy writes and async-proxy accesses",
        "idle": "fences without writes to order",
    },
)
def proxy_fence_insertion(module: Operation) -> bool:
    """Insert fences between generic-proxy writes and async-proxy accesses of the same bytes, and remove idle ones."""
    if not any(uses_async_proxy(op) for op in module.walk()):
        return False
    inserted = erased = 0
    for func, allocation in callees_first(module, allocated).items():
        for op in find_fences(func, allocation):
            assert op.parent is not None
            Builder(op.parent, op, op.loc).insert(ttng.FenceAsyncShared(False))
            inserted += 1
        for op in find_idle_fences(func, allocation) if is_on(module, "fence-elimination") else ():
            op.erase()
            erased += 1
    count("fences", inserted)
    count("idle", erased)
    return inserted + erased > 0
