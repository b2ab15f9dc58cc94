"""Names of Blackwell GPUs, for programs that import them; tensor memory is refused where a kernel uses it."""

from ......frontend.gluon.cache_policy import FractionalEvictionPolicy
from ......frontend.gluon.cache_policy import NvidiaCachePolicy as CachePolicy
from ......frontend.gluon.mma import fence_async_shared, mma_v2
from ......frontend.gluon.refused import BLACKWELL, refused_class, refused_functions
from ......frontend.gluon.tensor_memory import TensorMemoryLayout, TensorMemoryScalesLayout
from ..ampere import async_copy
from ..hopper import cluster, mbarrier
from . import clc, tma

FUNCTIONS = (
    "add2 allocate_tensor_memory async_store fma2 max2 min2 mul2 sub2 tcgen05_commit tcgen05_copy tcgen05_mma "
    "tcgen05_mma_barrier_count tcgen05_mma_scaled"
)
CLASSES = ("tensor_memory_descriptor", "tensor_memory_descriptor_type")
globals().update(refused_functions(FUNCTIONS, BLACKWELL))
tensor_memory_descriptor, tensor_memory_descriptor_type = (refused_class(name, BLACKWELL) for name in CLASSES)
NAMES = (*FUNCTIONS.split(), *CLASSES)
"""What is refused where a kernel uses it."""

__all__ = [
    "CachePolicy",
    "FractionalEvictionPolicy",
    "TensorMemoryLayout",
    "TensorMemoryScalesLayout",
    "async_copy",
    "clc",
    "cluster",
    "fence_async_shared",
    "mbarrier",
    "mma_v2",
    "tma",
]
