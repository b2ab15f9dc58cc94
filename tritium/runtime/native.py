"""The launch path of CUDA kernels as machine code of this host: compiled once, kept on disk."""

from __future__ import annotations

import sys
from functools import lru_cache

from ..backends.cpu.pool import load_text
from ..backends.errors import BackendError
from ..backends.nvidia.launch import Native, launch_text

__all__ = ["native_launch"]


@lru_cache(maxsize=1)
def native_launch() -> Native | None:
    """Where its functions are; None on machines that the CPU's backend makes no code for, and in other Pythons."""
    if sys.implementation.name != "cpython":
        return None
    try:
        loaded = load_text("cuda-launch", launch_text(python=True))
    except BackendError:
        return None
    loaded.keep_forever()  # launchers may be called while the interpreter ends
    return Native(*map(loaded.address, ("tt.method", "tt.cuda_launch", "tt.recent", "tt.launches")), loaded)
