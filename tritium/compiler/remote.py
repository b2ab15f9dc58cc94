"""Caches shared with other machines, or implemented by a manager of the user's, in place of a `KernelCache`.

An entry is transferred as the bytes of its file. It is checked like a file (key, checksums, table), and stored in this
machine's folder too, so that it is fetched once. With `cache.remote_secret` every entry has an HMAC-SHA-256, and
entries with a wrong one are ignored.

Errors, invalid results and timeouts of a backend are reported once. An operation has `cache.remote_timeout`
milliseconds; a backend that failed is not used for a minute, then for two, up to an hour.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..support import TritiumError, settings
from ..support.folders import open_file
from ..support.lazy import LazyModule
from .cache import KernelCache, warn_once
from .cache_managers import FILE_NAME, FileCacheManager, RemoteCacheManager, _base32
from .entry import MAX_ENTRY, Entry

__all__ = ["ManagedCache", "SharedCache", "chosen_cache"]

_hmac = LazyModule("hmac")
_MAC = 32
_REST = (60.0, 3600.0)  # seconds: after a first failure, and at most


def chosen_cache() -> KernelCache:
    """The cache selected by the settings `cache.manager_class` and `cache.remote_manager_class`."""
    manager, backend = settings.cache.manager_class, settings.cache.remote_manager_class
    if manager not in (None, FileCacheManager, RemoteCacheManager):
        return ManagedCache(manager)
    if manager is RemoteCacheManager and backend is None:
        raise TritiumError(
            "TRITON_CACHE_MANAGER names RemoteCacheManager, and TRITON_REMOTE_CACHE_BACKEND names no backend for it"
        )
    return KernelCache() if backend is None else SharedCache(backend)


class _Health:
    """The state of a backend, which is not used for a while after a failure."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.until = 0.0
        self.rest = _REST[0]

    def failed(self) -> None:
        with self.lock:
            self.until = time.monotonic() + self.rest
            self.rest = min(2 * self.rest, _REST[1])

    def worked(self) -> None:
        self.rest = _REST[0]

    @property
    def rests(self) -> bool:
        return time.monotonic() < self.until


_health: dict[Any, _Health] = {}


def _asked(who: type, what: str, call: Callable[[], Any]) -> Any:
    """The result of `call`; None and one warning if it raises or times out (it then continues in its thread)."""
    health = _health.setdefault((who, settings.redis.host, settings.redis.port), _Health())
    if health.rests:
        return None
    result: list[Any] = []
    error: list[BaseException] = []

    def run() -> None:
        try:
            result.append(call())
        except BaseException as e:
            error.append(e)

    milliseconds = settings.cache.remote_timeout or 1
    getattr(who, "prepare", lambda: None)()
    thread = threading.Thread(target=run, name=f"tritium {what}", daemon=True)
    thread.start()
    thread.join(milliseconds / 1000)
    if result:
        health.worked()
        return result[0]
    health.failed()
    why = f"{type(error[0]).__name__}: {error[0]}" if error else f"it took more than {milliseconds} ms"
    warn_once(
        f"remote {who}", f"the shared kernel cache ({who.__name__}) cannot {what}: {why}; kernels are compiled here"
    )
    return None


class SharedCache(KernelCache):
    """The folder of kernels, with a backend that is shared with other machines."""

    def __init__(self, backend: Any) -> None:
        super().__init__()
        self.backend = backend

    def read(self, key: str) -> Entry | None:
        """From the folder, else from the backend."""
        found = super().read(key)
        if found is None:
            data = _asked(self.backend, "be read", lambda: self._fetch(key))
            if data:
                entry = self._opened(key, data)
                if entry is not None:
                    super().write_bytes(key, entry[1])
                    return entry[0]
        return found

    def write_bytes(self, key: str, data: bytes) -> bool:
        """To the folder and the backend."""
        kept = super().write_bytes(key, data)
        _asked(self.backend, "be written", lambda: (self.backend(_base32(key)).put(FILE_NAME, _sealed(data)), True))
        return kept

    def _fetch(self, key: str) -> bytes:
        return self.backend(_base32(key)).get([FILE_NAME]).get(FILE_NAME) or b""

    def _opened(self, key: str, data: Any) -> tuple[Entry, bytes] | None:
        """The entry and its file's bytes from fetched data; None and a warning if that is invalid."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            self.refused = "damaged"
            warn_once("remote kind", f"the shared kernel cache gave back a {type(data).__name__} in place of bytes")
            return None
        body = _unsealed(bytes(data))
        if body is None:
            self.refused = "untrusted"
            warn_once(
                "remote seal", "an entry of the shared kernel cache is not signed with our secret: it is not used"
            )
            return None
        entry = self.checked(key, body, "entry of the shared cache")
        return None if entry is None else (entry, body)


def _sealed(data: bytes) -> bytes:
    """The data preceded by the HMAC, if there is a secret."""
    secret = settings.cache.remote_secret
    return _hmac.digest(secret.encode(), data, "sha256") + data if secret else data


def _unsealed(data: bytes) -> bytes | None:
    secret = settings.cache.remote_secret
    if not secret:
        return data
    right = _hmac.compare_digest(data[:_MAC], _hmac.digest(secret.encode(), data[_MAC:], "sha256"))
    return data[_MAC:] if right else None


class ManagedCache(KernelCache):
    """A cache implemented by a manager of the user's."""

    def __init__(self, manager: Any) -> None:
        super().__init__()
        self.manager = manager

    def read(self, key: str) -> Entry | None:
        """The manager's file, checked."""
        self.refused = ""
        data = _asked(self.manager, "be read", lambda: self._file(key))
        return self.checked(key, data, "entry of the manager") if data else None

    def write_bytes(self, key: str, data: bytes) -> bool:
        """`put`."""
        kept = _asked(self.manager, "be written", lambda: (self._of(key).put(data, FILE_NAME, binary=True), True))
        return kept is not None

    def _of(self, key: str) -> Any:
        return self.manager(_base32(key))

    def _file(self, key: str) -> bytes:
        path = self._of(key).get_file(FILE_NAME)
        if path is None:
            return b""
        with open(open_file(path), "rb") as f:
            return f.read(MAX_ENTRY + 1)
