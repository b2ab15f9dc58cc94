"""Mbarriers."""

from ......frontend.gluon.mbarrier import MBarrierLayout, allocate_mbarrier, arrive, init, invalidate, wait

__all__ = ["MBarrierLayout", "allocate_mbarrier", "arrive", "init", "invalidate", "wait"]
