"""Since Ampere: `mma.sync`, asynchronous copies, mbarriers."""

from ......frontend.gluon.mma import mma_v2
from . import async_copy, mbarrier

__all__ = ["async_copy", "mbarrier", "mma_v2"]
