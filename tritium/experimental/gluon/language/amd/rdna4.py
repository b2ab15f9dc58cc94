"""Instructions of RDNA4 GPUs: refused where a kernel uses them."""

from .....frontend.gluon.refused import AMD, refused_functions

globals().update(
    refused_functions(
        "wmma",
        AMD,
    )
)
