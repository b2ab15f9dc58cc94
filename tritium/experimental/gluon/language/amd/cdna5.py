"""Instructions of CDNA5 GPUs: refused where a kernel uses them."""

from .....frontend.gluon.refused import refused_functions

globals().update(
    refused_functions(
        "buffer_load buffer_store wmma wmma_scaled scaled_downcast scaled_upcast get_wmma_scale_layout "
        "make_partitioned_dot_layouts load_shared_fp4_repacked",
        "is an instruction of AMD GPUs, for which Gluon is not compiled yet",
    )
)
