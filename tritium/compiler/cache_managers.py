"""Where compiled kernels are kept, as Triton lets users choose it: classes of Triton's names and methods.

A `CacheManager` keeps the files of one key; `TRITON_CACHE_MANAGER=module:Class` names one to be used in place of the
folder of kernels. A `RemoteCacheBackend` keeps files of one key where other machines find them;
`TRITON_REMOTE_CACHE_BACKEND=module:Class` names one to be asked besides. Of a kernel there is one file, `FILE_NAME`:
the entry with all stages, as it stands on disk. What they give back is checked like any entry (`remote`), and what they
raise, or how long they take, costs a warning and never a kernel.
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
_redis = LazyModule("redis")  # 60 ms, and only who shares kernels needs it
_retry = LazyModule("redis.retry")
_backoff = LazyModule("redis.backoff")

#: The name that managers and backends are given for a kernel's entry. It changes with the format of entries.
FILE_NAME = "kernel.tritium2"


class CacheManager(ABC):
    """Keeps files under the names that they are put with, for one key."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The path of a file with the contents of `filename`, or None."""

    @abstractmethod
    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Keep `data` as `filename`; the path of a file with it."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """The paths of the group that was put as `filename`, by name; None if one is missing."""

    @abstractmethod
    def put_group(self, filename: str, group: Mapping[str, str]) -> str:
        """Note that these files, name -> path, belong together."""


class FileCacheManager(CacheManager):
    """Files in a folder of the key's own: below the folder of kernels, or those for dumps and for overriding."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        cache = settings.cache
        parent = cache.dump_dir if dump else cache.override_dir if override else os.path.join(cache.dir, "files")
        self.cache_dir = os.path.join(str(parent), _plain(key))
        if not override:
            os.makedirs(self.cache_dir, mode=0o700, exist_ok=True)

    def has_file(self, filename: str) -> bool:
        """Is it there, and of nobody else's making?"""
        try:
            status = os.lstat(self._path(filename))
            return stat.S_ISREG(status.st_mode) and is_trusted(status) and is_trusted(os.stat(self.cache_dir))
        except OSError:
            return False

    def get_file(self, filename: str) -> str | None:
        """Its path, or None."""
        return self._path(filename) if self.has_file(filename) else None

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Write it by atomic rename; its path. OSError where that cannot be."""
        path = self._path(filename)
        replace_file(_pathlib.Path(path), data if isinstance(data, bytes) else str(data).encode())
        return path

    def get_group(self, filename: str) -> dict[str, str] | None:
        """The group's paths, or None where a file is missing, or what was noted of the group is damaged."""
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        children = _children(path)
        if not isinstance(children, dict) or not all(os.path.exists(str(p)) for p in children.values()):
            return None
        return {str(name): str(place) for name, place in children.items()}

    def put_group(self, filename: str, group: Mapping[str, str]) -> str:
        """Note the group; the path of the note."""
        return self.put(json.dumps({"child_paths": dict(group)}), f"__grp__{filename}", binary=False)

    def _path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, _plain(filename))


class RemoteCacheBackend(ABC):
    """Files of one key, kept where other machines find them."""

    def __init__(self, key: str) -> None:
        self.key = key

    @abstractmethod
    def get(self, filenames: Sequence[str]) -> dict[str, bytes]:
        """The contents of those that are there."""

    @abstractmethod
    def put(self, filename: str, data: bytes) -> Any:
        """Keep `data` as `filename`."""


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """A Redis server, which the settings of the group `redis` name. Needs the package `redis` (`tritium[redis]`).

    All backends of a process share its connections. Nothing is tried twice: who asks again is `remote`.
    """

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self._format = settings.redis.key_format or "{key}:{filename}"
        self._client = _client()

    @staticmethod
    def prepare() -> None:
        """Import what asking needs, at nobody's expense."""
        with contextlib.suppress(ImportError):  # which asking reports
            _ = _redis.Redis, _retry.Retry, _backoff.NoBackoff

    def get(self, filenames: Sequence[str]) -> dict[str, bytes]:
        """By one MGET."""
        found = self._client.mget([self._name(filename) for filename in filenames])
        return {name: data for name, data in zip(filenames, found) if data is not None}

    def put(self, filename: str, data: bytes) -> Any:
        """By one SET, which forgets after `redis.keep_for` seconds."""
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
    """Files of the backend that `cache.remote_manager_class` names, with copies in the folder of kernels."""

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
        """Give it to the backend, and keep a copy."""
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
        """Note the group by the names of its files."""
        if self._local_only:
            return self._files.put_group(filename, group)
        return self.put(json.dumps({"child_paths": sorted(group)}), f"__grp__{filename}", binary=False)


def get_cache_manager(key: str) -> CacheManager:
    """The manager of the files of `key`, which is hexadecimal."""
    return _chosen()(_base32(key))


def get_override_manager(key: str) -> CacheManager:
    """The one of the stages that take the place of a compile's."""
    return _chosen()(_base32(key), override=True)


def get_dump_manager(key: str) -> CacheManager:
    """The one of the stages that are dumped."""
    return _chosen()(_base32(key), dump=True)


def _chosen() -> Any:
    return settings.cache.manager_class or FileCacheManager


def _base32(key: str) -> str:
    """A hexadecimal key as Triton's managers get it."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def _children(path: str) -> Any:
    try:
        return json.loads(read_regular(path))["child_paths"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _plain(name: str) -> str:
    """The name of a file, not a way to another folder."""
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"{name!r} is no name of a file in the cache")
    return name
