"""How many cores there are for this process, and whether it may have them all."""

from __future__ import annotations

import os

__all__ = ["share_cores", "spare_cores", "usable_cores"]

_shared = False


def usable_cores() -> int:
    """The cores that this process may run on, and a container gets the time of (cgroup v2)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _quota())


def share_cores() -> None:
    """From now on this process is one of several that have the cores among them."""
    global _shared
    _shared = True


def spare_cores() -> int:
    """Cores for work that may turn out to be for nothing: one, where others have use for them."""
    return 1 if _shared else usable_cores()


def _quota() -> int:
    """How many cores' worth of time a container gets; many where there is no limit."""
    try:
        with open("/sys/fs/cgroup/cpu.max") as f:
            allowed, period = f.read().split()
        return max(1, -(-int(allowed) // int(period)))
    except (OSError, ValueError):
        return 1 << 16
