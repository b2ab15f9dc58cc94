"""Since Ampere: `mma.sync`, asynchronous copies, mbarriers."""

from ......frontend.gluon.cache_policy import FractionalEvictionPolicy
from ......frontend.gluon.cache_policy import NvidiaCachePolicy as CachePolicy
from ......frontend.gluon.mma import mma_v2
from . import async_copy, mbarrier

__all__ = ["CachePolicy", "FractionalEvictionPolicy", "async_copy", "mbarrier", "mma_v2"]
