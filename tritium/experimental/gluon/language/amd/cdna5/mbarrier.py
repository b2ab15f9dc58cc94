"""Mbarriers of CDNA5 GPUs: refused where a kernel uses them."""

from ......frontend.gluon.mbarrier import MBarrierLayout
from ......frontend.gluon.refused import AMD, refused_functions

globals().update(
    refused_functions(
        "arrive init wait",
        AMD,
    )
)
__all__ = ["MBarrierLayout"]
