"""Triton's module of this name: where kernels are kept, and the classes to choose it with."""

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

__all__ = [
    "CacheManager",
    "FileCacheManager",
    "KernelCache",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "RemoteCacheManager",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
    "triton_key",
]
