"""Names of Blackwell GPUs, for programs that import them; tensor memory is refused where a kernel uses it."""

from ......frontend.gluon.mma import fence_async_shared, mma_v2
from ......frontend.gluon.refused import BLACKWELL, refused_class, refused_functions
from ..ampere import async_copy
from ..hopper import cluster, mbarrier
from . import clc, tma

globals().update(
    refused_functions(
        "add2 allocate_tensor_memory async_store fma2 max2 min2 mul2 sub2 tcgen05_commit tcgen05_copy tcgen05_mma "
        "tcgen05_mma_barrier_count tcgen05_mma_scaled",
        BLACKWELL,
    )
)
TensorMemoryLayout, TensorMemoryScalesLayout, tensor_memory_descriptor, tensor_memory_descriptor_type = (
    refused_class(_name, BLACKWELL)
    for _name in (
        "TensorMemoryLayout",
        "TensorMemoryScalesLayout",
        "tensor_memory_descriptor",
        "tensor_memory_descriptor_type",
    )
)

__all__ = ["async_copy", "clc", "cluster", "fence_async_shared", "mbarrier", "mma_v2", "tma"]
