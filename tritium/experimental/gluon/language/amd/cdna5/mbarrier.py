"""Mbarriers of CDNA5 GPUs: refused where a kernel uses them."""

from ......frontend.gluon.mbarrier import MBarrierLayout
from ......frontend.gluon.refused import CDNA5, refused_functions

globals().update(
    refused_functions(
        "arrive init wait",
        CDNA5,
    )
)
__all__ = ["MBarrierLayout"]
