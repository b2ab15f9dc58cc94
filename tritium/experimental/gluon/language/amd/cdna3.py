"""Instructions of CDNA3 GPUs: refused where a kernel uses them."""

from .....frontend.gluon.amd_layouts import AMDMFMALayout
from .....frontend.gluon.refused import AMD, refused_functions

globals().update(
    refused_functions(
        "buffer_atomic_add buffer_atomic_and buffer_atomic_max buffer_atomic_min buffer_atomic_or "
        "buffer_atomic_xchg buffer_atomic_xor buffer_load buffer_store "
        "get_scaled_upcast_fp4_scale_layout mfma scaled_upcast",
        AMD,
    )
)
__all__ = ["AMDMFMALayout"]
