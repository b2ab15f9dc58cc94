"""Mbarriers, as on Hopper."""

from ......frontend.gluon.mbarrier import arrive_multicast as arrive
from ..hopper.mbarrier import MBarrierLayout, allocate_mbarrier, expect, init, invalidate, wait

__all__ = ["MBarrierLayout", "allocate_mbarrier", "arrive", "expect", "init", "invalidate", "wait"]
