"""order-mbarrier-lifetimes: Let the CTAs of a cluster begin and end the lives of their mbarriers together.

    ttng.init_barrier %bar, 1
    …
    ttng.inval_barrier %bar

    ttng.init_barrier %bar, 1
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier
    …
    ttng.cluster_barrier
    ttng.inval_barrier %bar

Copies and arrivals of other CTAs of a cluster signal an mbarrier: its initialization must be visible to them before,
and it may be invalidated only after them. Cluster barriers are inserted after each row of initializations and before
each row of invalidations that has none. Modules of one CTA per cluster are left alone, as are partitions of
`warp_specialize`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...dialects import ttg, ttng
from ...dialects.ttg_context import num_ctas
from ...ir import Block, Builder, Operation, count, functions_of, is_pure, pass_on

__all__ = ["order_mbarrier_lifetimes"]

_ORDERED = (ttng.ClusterBarrier, ttng.ClusterArrive, ttng.ClusterWait)
_AMONG = (ttg.LocalAlloc, ttg.LocalDealloc, ttg.Barrier, ttng.FenceAsyncShared, ttng.FenceMBarrierInitReleaseCluster)


@pass_on("module", statistics={"barriers inserted": "cluster barriers after initializations and before invalidations"})
def order_mbarrier_lifetimes(module: Operation) -> bool:
    """Insert the barriers of a module's functions."""
    if num_ctas(module) == 1:
        return False
    inserted = 0
    for func in functions_of(module):
        for block in _blocks_with(func, ttng.InitBarrier):
            for last in _ends_of_rows(block, ttng.InitBarrier):
                b = Builder(loc=last.loc)
                b.after(last)
                b.add(ttng.FenceMBarrierInitReleaseCluster())
                b.add(ttng.ClusterBarrier(False))
                inserted += 1
        for block in _blocks_with(func, ttng.InvalBarrier):
            for first in _ends_of_rows(reversed(list(block)), ttng.InvalBarrier):
                Builder(block, first, first.loc).add(ttng.ClusterBarrier(False))
                inserted += 1
    count("barriers inserted", inserted)
    return inserted > 0


def _blocks_with(func: Operation, kind: type[Operation]) -> list[Block]:
    """The blocks with ops of a class that all warps run."""
    blocks = dict.fromkeys(op.parent for op in func.walk() if isinstance(op, kind))
    return [block for block in blocks if block is not None and not _in_partition(block)]


def _ends_of_rows(ops: Iterable[Operation], kind: type[Operation]) -> list[Operation]:
    """The last op of a class in each row of them that no cluster barrier follows, in the order of `ops`."""
    found = []
    last: Operation | None = None
    for op in ops:
        if isinstance(op, kind):
            last = op
        elif last is not None and not (isinstance(op, _AMONG) or is_pure(op)):
            if not isinstance(op, _ORDERED):
                found.append(last)
            last = None
    return found


def _in_partition(block: Block) -> bool:
    """Whether only some warps run the block: they cannot take part in a cluster barrier of all."""
    around = block.parent_op
    while around is not None and not isinstance(around, (ttg.WarpSpecialize, ttg.WarpSpecializePartitions)):
        around = around.parent_op
    return around is not None
