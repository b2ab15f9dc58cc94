"""Asynchronous copies of CDNA5 GPUs: refused where a kernel uses them."""

from ......frontend.gluon.refused import CDNA5, refused_functions

globals().update(
    refused_functions(
        "commit_group global_to_shared mbarrier_arrive shared_to_global wait_group",
        CDNA5,
    )
)
