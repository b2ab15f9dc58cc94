"""Instructions of CDNA5 GPUs: refused where a kernel uses them."""

from ......frontend.gluon.amd_layouts import AMDWMMALayout, PartitionedSharedLayout
from ......frontend.gluon.refused import AMD, refused_functions
from . import async_copy, cluster, mbarrier, tdm

globals().update(
    refused_functions(
        "buffer_load buffer_store get_scaled_upcast_fp4_scale_layout get_wmma_scale_layout "
        "load_shared_fp4_repacked make_partitioned_dot_layouts scaled_downcast scaled_upcast wmma "
        "wmma_scaled",
        AMD,
    )
)
__all__ = ["AMDWMMALayout", "PartitionedSharedLayout", "async_copy", "cluster", "mbarrier", "tdm"]
