"""Asking the system for AMX tiles: Linux grants their 8 KB of state only to processes that ask.

The permission holds for all threads, and for children of fork. See Documentation/arch/x86/xstate.rst in the kernel.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import lru_cache

__all__ = ["enable_amx"]

_SYS_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XFEATURE_XTILEDATA = 158, 0x1023, 18


@lru_cache(maxsize=1)
def enable_amx() -> bool:
    """May this process use AMX tiles from now on? False where the machine or the system has none."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return False
    try:
        syscall = ctypes.CDLL(None).syscall
        syscall.restype = ctypes.c_long
        words = (_SYS_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XFEATURE_XTILEDATA)
        return syscall(*(ctypes.c_long(w) for w in words)) == 0
    except (OSError, AttributeError):
        return False
