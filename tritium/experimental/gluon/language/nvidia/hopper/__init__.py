"""Since Hopper: `wgmma`, proxies, clusters."""

from ......frontend.gluon.cache_policy import FractionalEvictionPolicy
from ......frontend.gluon.cache_policy import NvidiaCachePolicy as CachePolicy
from ......frontend.gluon.mbarrier import async_store
from ......frontend.gluon.mma import (
    fence_async_shared,
    mma_v2,
    warpgroup_mma,
    warpgroup_mma_accumulator,
    warpgroup_mma_accumulator_type,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from ..ampere import async_copy
from . import cluster, mbarrier, tma

__all__ = [
    "CachePolicy",
    "FractionalEvictionPolicy",
    "async_copy",
    "async_store",
    "cluster",
    "fence_async_shared",
    "mbarrier",
    "mma_v2",
    "tma",
    "warpgroup_mma",
    "warpgroup_mma_accumulator",
    "warpgroup_mma_accumulator_type",
    "warpgroup_mma_init",
    "warpgroup_mma_wait",
]
