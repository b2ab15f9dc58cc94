"""The number of cores of this process."""

from __future__ import annotations

import os

__all__ = ["share_cores", "spare_cores", "usable_cores"]

_shared = False


def usable_cores() -> int:
    """The cores that this process may run on, limited by the CPU quota of a container (cgroup v2)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _quota())


def share_cores() -> None:
    """Mark this process as one of several that share the cores."""
    global _shared
    _shared = True


def spare_cores() -> int:
    """Cores for speculative work: one if the cores are shared."""
    return 1 if _shared else usable_cores()


def _quota() -> int:
    """The CPU quota of a container in cores; a large number without a limit."""
    try:
        with open("/sys/fs/cgroup/cpu.max") as f:
            allowed, period = f.read().split()
        return max(1, -(-int(allowed) // int(period)))
    except (OSError, ValueError):
        return 1 << 16
