"""Instructions of RDNA4 GPUs: refused where a kernel uses them."""

from .....frontend.gluon.refused import refused_functions

globals().update(
    refused_functions(
        "wmma",
        "is an instruction of AMD GPUs, for which Gluon is not compiled yet",
    )
)
