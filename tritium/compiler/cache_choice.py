"""The cache of a process: the folder, or the cache selected by settings."""

from __future__ import annotations

from ..support import settings
from ..support.lazy import LazyModule
from .cache import KernelCache

__all__ = ["open_cache"]

_remote = LazyModule(".remote", __package__)


def open_cache() -> KernelCache:
    """The cache of compiled kernels: the folder, or a manager or remote backend selected by settings (`remote`)."""
    if settings.cache.manager_class is None and settings.cache.remote_manager_class is None:
        return KernelCache()
    found: KernelCache = _remote.chosen_cache()
    return found
