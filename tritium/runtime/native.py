"""The launcher of CUDA kernels as machine code of the host: compiled once, kept on disk."""

from __future__ import annotations

import sys
import threading
from functools import lru_cache, partial

from ..backends.cpu.pool import load_quickly
from ..backends.errors import BackendError
from ..backends.llvm import lean
from ..backends.nvidia.launch import Native, launch_text

__all__ = ["native_launch"]


_lock = threading.Lock()


def native_launch() -> Native | None:
    """The addresses of its functions; None on machines that the CPU's backend does not support, and in other
    Pythons."""
    with _lock:  # a thread may be loading it
        return _native_launch()


@lru_cache(maxsize=1)
def _native_launch() -> Native | None:
    if sys.implementation.name != "cpython":
        return None
    try:
        with lean():
            loaded = load_quickly("cuda-launch", partial(launch_text, python=True))
    except BackendError:
        return None
    loaded.keep_forever()  # launchers may be called during the interpreter's finalization
    method, launch, recent, launches = map(loaded.address, ("tt.method", "tt.cuda_launch", "tt.recent", "tt.launches"))
    return Native(method, launch, recent, launches, loaded)
