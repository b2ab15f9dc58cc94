"""Triton's module of this name: the folders of kernels, and classes of cache managers."""

from __future__ import annotations

from ..compiler.cache import KernelCache
from ..compiler.cache_managers import (
    CacheManager,
    FileCacheManager,
    RedisRemoteCacheBackend,
    RemoteCacheBackend,
    RemoteCacheManager,
    get_cache_manager,
    get_dump_manager,
    get_override_manager,
)
from ..compiler.version import package_key as triton_key
from ..support import settings

__all__ = [
    "CacheManager",
    "FileCacheManager",
    "KernelCache",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "RemoteCacheManager",
    "default_cache_dir",
    "default_dump_dir",
    "default_override_dir",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
    "triton_key",
]


# as in Triton up to 3.2; cache managers of users call them
def default_cache_dir() -> str:
    """The folder of compiled kernels: `knobs.cache.dir`."""
    return str(settings.cache.dir)


def default_dump_dir() -> str:
    """The folder that stages are dumped to: `knobs.cache.dump_dir`."""
    return str(settings.cache.dump_dir)


def default_override_dir() -> str:
    """The folder of stages that replace those of a compile: `knobs.cache.override_dir`."""
    return str(settings.cache.override_dir)
