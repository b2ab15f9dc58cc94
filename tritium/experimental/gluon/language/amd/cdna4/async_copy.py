"""Asynchronous copies of CDNA4 GPUs: refused where a kernel uses them."""

from ......frontend.gluon.refused import AMD, refused_functions

globals().update(
    refused_functions(
        "buffer_load_to_shared commit_group global_load_to_shared load_shared_relaxed wait_group",
        AMD,
    )
)
