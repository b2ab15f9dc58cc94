"""Mbarriers that count bytes of copies."""

from ......frontend.gluon.mbarrier import MBarrierLayout, allocate_mbarrier, arrive, expect, init, invalidate, wait

__all__ = ["MBarrierLayout", "allocate_mbarrier", "arrive", "expect", "init", "invalidate", "wait"]
