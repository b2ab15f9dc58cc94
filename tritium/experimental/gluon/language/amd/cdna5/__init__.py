"""CDNA5 GPUs (gfx1250), whose code is not generated yet; most instructions are refused where a kernel uses them."""

from ......frontend.gluon.amd_buffer import buffer_load, buffer_store
from ......frontend.gluon.amd_layouts import AMDWMMALayout, PartitionedSharedLayout
from ......frontend.gluon.amd_mma import wmma_of
from ......frontend.gluon.amd_values import scaled_upcast
from ......frontend.gluon.refused import CDNA5, refused_functions
from . import async_copy, cluster, mbarrier, tdm

wmma = wmma_of(3, "CDNA5")
globals().update(
    refused_functions(
        "get_scaled_upcast_fp4_scale_layout get_wmma_scale_layout load_shared_fp4_repacked"
        " make_partitioned_dot_layouts scaled_downcast wmma_scaled",
        CDNA5,
    )
)
__all__ = [
    "AMDWMMALayout",
    "PartitionedSharedLayout",
    "async_copy",
    "buffer_load",
    "buffer_store",
    "cluster",
    "mbarrier",
    "scaled_upcast",
    "tdm",
    "wmma",
]
