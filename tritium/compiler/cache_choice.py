"""Which cache a process uses: the folder, or what the settings name in its place."""

from __future__ import annotations

from ..support import settings
from ..support.lazy import LazyModule
from .cache import KernelCache

__all__ = ["open_cache"]

_remote = LazyModule(".remote", __package__)


def open_cache() -> KernelCache:
    """The cache of compiled kernels: the folder, or what the settings put in its place or behind it (`remote`)."""
    if settings.cache.manager_class is None and settings.cache.remote_manager_class is None:
        return KernelCache()
    found: KernelCache = _remote.chosen_cache()
    return found
