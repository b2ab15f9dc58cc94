"""Instructions of CDNA3 GPUs: refused where a kernel uses them."""

from .....frontend.gluon.refused import refused_functions

globals().update(
    refused_functions(
        "buffer_atomic_add buffer_atomic_and buffer_atomic_max buffer_atomic_min buffer_atomic_or "
        "buffer_atomic_xor buffer_load buffer_store mfma scaled_upcast",
        "is an instruction of AMD GPUs, for which Gluon is not compiled yet",
    )
)
