"""Asynchronous copies from global to shared memory by threads."""

from ......frontend.gluon.async_copy import async_load, commit_group, mbarrier_arrive, wait_group

__all__ = ["async_load", "commit_group", "mbarrier_arrive", "wait_group"]
