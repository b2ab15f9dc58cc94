"""Asynchronous copies of CDNA4 GPUs, whose code is not generated yet."""

from ......frontend.gluon.amd_async_copy import (
    buffer_load_to_shared,
    commit_group,
    global_load_to_shared,
    load_shared_relaxed,
    wait_group,
)

__all__ = ["buffer_load_to_shared", "commit_group", "global_load_to_shared", "load_shared_relaxed", "wait_group"]
