"""Synchronization of clusters of CDNA5 GPUs: refused where a kernel uses it."""

from ......frontend.gluon.refused import CDNA5, refused_functions

globals().update(
    refused_functions(
        "arrive wait",
        CDNA5,
    )
)
