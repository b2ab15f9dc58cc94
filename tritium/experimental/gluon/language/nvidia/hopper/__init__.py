"""Since Hopper: `wgmma`, proxies, clusters."""

from ......frontend.gluon.mma import (
    fence_async_shared,
    mma_v2,
    warpgroup_mma,
    warpgroup_mma_accumulator,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from ......frontend.gluon.refused import refused_functions
from ..ampere import async_copy
from . import cluster, mbarrier, tma

globals().update(refused_functions("async_store", "is not supported yet: stores to other CTAs by mbarrier"))

__all__ = [
    "async_copy",
    "cluster",
    "fence_async_shared",
    "mbarrier",
    "mma_v2",
    "tma",
    "warpgroup_mma",
    "warpgroup_mma_accumulator",
    "warpgroup_mma_init",
    "warpgroup_mma_wait",
]
