"""Cluster barriers in the regions of a `ttg.warp_specialize`, which the warps of other regions do not execute.

`barrier.cluster` counts all threads of a cluster. A region synchronizes with the same region of the other CTAs by
mbarriers of its own, in the scratch of the operation after its captures:

    two mbarriers (8 bytes each)    used in turn: a CTA may arrive for the next barrier before others have left this one
    a counter (8 bytes)             of the barriers that the region has executed
"""

from __future__ import annotations

from collections.abc import Iterator

from ..dialects import ttg
from ..dialects.ttg_context import num_ctas
from ..ir import Operation, Region

__all__ = ["REGION_BYTES", "barrier_scratch", "regions_with_cluster_barriers"]

REGION_BYTES = 24

_EXCHANGES = frozenset(
    (
        "ttng.cluster_barrier", "ttg.convert_layout", "ttg.local_atomic_scatter_rmw",
        "tt.reduce", "tt.scan", "tt.histogram", "tt.gather",
        "tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_load", "tt.atomic_store", "tt.atomic_poll",
    )
)  # fmt: skip
"""Operations whose lowering may pass data between the CTAs of a cluster, or synchronizes them."""


def regions_with_cluster_barriers(op: ttg.WarpSpecialize) -> list[Region]:
    """The default region and partitions whose lowering may need a cluster barrier."""
    if num_ctas(op) == 1:
        return []
    regions = (op.regions[0], *op.partitions.regions)
    return [region for region in regions if any(_may_synchronize(inner) for inner in _walk(region))]


def _walk(region: Region) -> Iterator[Operation]:
    for block in region.blocks:
        for op in block:
            yield from op.walk()


def _may_synchronize(op: Operation) -> bool:
    if isinstance(op, ttg.Barrier):
        return bool(op.addrSpace & ttg.AddrSpace.global_write)
    return op.name in _EXCHANGES


def barrier_scratch(op: ttg.WarpSpecialize) -> int:
    """Bytes of scratch for the cluster barriers of a `ttg.warp_specialize`."""
    return REGION_BYTES * len(regions_with_cluster_barriers(op))
