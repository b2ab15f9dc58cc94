"""Cache managers and remote backends: classes with Triton's names and methods.

A `CacheManager` stores the files of one key; `TRITON_CACHE_MANAGER=module:Class` names one that replaces the folder of
kernels. A `RemoteCacheBackend` stores files of one key for other machines, too;
`TRITON_REMOTE_CACHE_BACKEND=module:Class` names one that is used in addition. A kernel is one file, `FILE_NAME`: the
entry with all stages, as on disk. Results of managers and backends are checked like any entry (`remote`); their errors
and timeouts cause warnings only.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from ..support import TritiumError, settings
from ..support.files import read_regular
from ..support.folders import is_trusted, replace_file
from ..support.lazy import LazyModule

__all__ = [
    "FILE_NAME",
    "CacheManager",
    "FileCacheManager",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "RemoteCacheManager",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
]

_pathlib = LazyModule("pathlib")
_redis = LazyModule("redis")  # 60 ms, needed for shared kernels only
_retry = LazyModule("redis.retry")
_backoff = LazyModule("redis.backoff")

#: The file name of a kernel's entry. It changes with the format of entries.
FILE_NAME = "kernel.tritium2"


class CacheManager(ABC):
    """Stores files by name, for one key."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The path of a file with the contents of `filename`, or None."""

    @abstractmethod
    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Store `data` as `filename`; the path of the file."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """The paths of the group stored as `filename`, by name; None if one is missing."""

    @abstractmethod
    def put_group(self, filename: str, group: Mapping[str, str]) -> str:
        """Record that these files, name -> path, are a group."""


class FileCacheManager(CacheManager):
    """Files in a folder of the key, below the folder of kernels, or those of dumps and overrides."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        cache = settings.cache
        parent = cache.dump_dir if dump else cache.override_dir if override else os.path.join(cache.dir, "files")
        self.cache_dir = os.path.join(str(parent), _plain(key))
        if not override:
            os.makedirs(self.cache_dir, mode=0o700, exist_ok=True)

    def has_file(self, filename: str) -> bool:
        """Whether the file exists, and only this user could have written it."""
        try:
            status = os.lstat(self._path(filename))
            return stat.S_ISREG(status.st_mode) and is_trusted(status) and is_trusted(os.stat(self.cache_dir))
        except OSError:
            return False

    def get_file(self, filename: str) -> str | None:
        """Its path, or None."""
        return self._path(filename) if self.has_file(filename) else None

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Write it by atomic rename; its path. OSError if that is not possible."""
        path = self._path(filename)
        replace_file(_pathlib.Path(path), data if isinstance(data, bytes) else str(data).encode())
        return path

    def get_group(self, filename: str) -> dict[str, str] | None:
        """The group's paths, or None if a file is missing, or the record of the group is damaged."""
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        children = _children(path)
        if not isinstance(children, dict) or not all(os.path.exists(str(p)) for p in children.values()):
            return None
        return {str(name): str(place) for name, place in children.items()}

    def put_group(self, filename: str, group: Mapping[str, str]) -> str:
        """Record the group; the path of the record."""
        return self.put(json.dumps({"child_paths": dict(group)}), f"__grp__{filename}", binary=False)

    def _path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, _plain(filename))


class RemoteCacheBackend(ABC):
    """Files of one key in storage shared with other machines."""

    def __init__(self, key: str) -> None:
        self.key = key

    @abstractmethod
    def get(self, filenames: Sequence[str]) -> dict[str, bytes]:
        """The contents of the existing files."""

    @abstractmethod
    def put(self, filename: str, data: bytes) -> Any:
        """Store `data` as `filename`."""


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """A Redis server, configured by the settings of the group `redis`. Needs the package `redis` (`tritium[redis]`).

    All backends of a process share its connections. Nothing is retried here: `remote` does that.
    """

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self._format = settings.redis.key_format or "{key}:{filename}"
        self._client = _client()

    @staticmethod
    def prepare() -> None:
        """Import the client, outside of any timeout."""
        with contextlib.suppress(ImportError):  # reported by the first request
            _ = _redis.Redis, _retry.Retry, _backoff.NoBackoff

    def get(self, filenames: Sequence[str]) -> dict[str, bytes]:
        """By one MGET."""
        found = self._client.mget([self._name(filename) for filename in filenames])
        return {name: data for name, data in zip(filenames, found) if data is not None}

    def put(self, filename: str, data: bytes) -> Any:
        """By one SET, which expires after `redis.keep_for` seconds."""
        return self._client.set(self._name(filename), data, ex=settings.redis.keep_for or None)

    def _name(self, filename: str) -> str:
        return self._format.format(key=self.key, filename=filename)


_clients: dict[Any, Any] = {}


def _client() -> Any:
    """The process's connections to the server of the settings."""
    server = settings.redis
    where = (server.host, server.port, server.database, server.username, server.password, server.tls)
    key = (os.getpid(), settings.cache.remote_timeout, where)
    if key not in _clients:
        try:
            make = _redis.Redis
        except ImportError:
            raise TritiumError(
                "the package redis is not installed: `pip install tritium[redis]` brings it, which "
                "TRITON_REMOTE_CACHE_BACKEND needs for a Redis server"
            ) from None
        seconds = max(settings.cache.remote_timeout or 0, 1) / 1000
        _clients[key] = make(
            host=server.host,
            port=server.port,
            db=server.database,
            username=server.username,
            password=server.password,
            ssl=server.tls,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=_retry.Retry(_backoff.NoBackoff(), 0),
        )
    return _clients[key]


class RemoteCacheManager(CacheManager):
    """Files of the backend named by `cache.remote_manager_class`, with copies in the folder of kernels."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        backend = settings.cache.remote_manager_class
        if backend is None:
            raise TritiumError("RemoteCacheManager has no backend: let TRITON_REMOTE_CACHE_BACKEND name one")
        self._local_only = override or dump
        self._backend = backend(key)
        self._files = FileCacheManager(key, override, dump)

    def get_file(self, filename: str) -> str | None:
        """The path of a copy of the backend's file, or None."""
        if self._local_only:
            return self._files.get_file(filename)
        data = self._backend.get([filename]).get(filename)
        return None if data is None else self._files.put(data, filename)

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Store it in the backend, and keep a copy."""
        if not self._local_only:
            self._backend.put(filename, data if isinstance(data, bytes) else str(data).encode())
        return self._files.put(data, filename, binary)

    def get_group(self, filename: str) -> dict[str, str] | None:
        """The paths of copies of the group's files; None if one is missing."""
        if self._local_only:
            return self._files.get_group(filename)
        path = self.get_file(f"__grp__{filename}")
        names = _children(path) if path else None
        if names is None:
            return None
        found = self._backend.get(list(names))
        return {n: self._files.put(d, n) for n, d in found.items()} if len(found) == len(names) else None

    def put_group(self, filename: str, group: Mapping[str, str]) -> str:
        """Record the group by the names of its files."""
        if self._local_only:
            return self._files.put_group(filename, group)
        return self.put(json.dumps({"child_paths": sorted(group)}), f"__grp__{filename}", binary=False)


def get_cache_manager(key: str) -> CacheManager:
    """The manager of the files of `key`, which is hexadecimal."""
    return _chosen()(_base32(key))


def get_override_manager(key: str) -> CacheManager:
    """The manager of stages that override those of a compile."""
    return _chosen()(_base32(key), override=True)


def get_dump_manager(key: str) -> CacheManager:
    """The manager of dumped stages."""
    return _chosen()(_base32(key), dump=True)


def _chosen() -> Any:
    return settings.cache.manager_class or FileCacheManager


def _base32(key: str) -> str:
    """A hexadecimal key in the encoding of Triton's managers."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def _children(path: str) -> Any:
    try:
        return json.loads(read_regular(path))["child_paths"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _plain(name: str) -> str:
    """The file name, which must not be a path to another folder."""
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"{name!r} is no name of a file in the cache")
    return name
