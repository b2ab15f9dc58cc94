"""Asynchronous copies from global to shared memory by threads."""

from ......frontend.gluon.async_copy import async_load, commit_group, mbarrier_arrive, wait_group

async_copy_global_to_shared = async_load  # its name before Triton 3.9

__all__ = ["async_copy_global_to_shared", "async_load", "commit_group", "mbarrier_arrive", "wait_group"]
