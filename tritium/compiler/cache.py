"""Compiled kernels on disk: one file (`entry`) a kernel, used only if every byte of it is valid.

Problems are not errors of the user: an entry that is damaged, of another version or writable by another user is ignored
(and overwritten), and a folder that is not writable costs time. Each is reported once, by a warning. Entries are
written by atomic rename: a concurrent reader reads the old or the new one.

A hit costs no more than reading the file. Its access time is updated if it is older than an hour: by these times
entries are evicted when the folder exceeds `cache.max_size` (`inventory`).
"""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from typing import TYPE_CHECKING

from ..support import settings
from ..support.files import open_regular
from ..support.folders import cache_folder, is_trusted, open_file, replace_file
from ..support.lazy import LazyModule
from .entry import MAX_ENTRY, Entry

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "CacheWarning",
    "KernelCache",
    "cache_folder",
    "warn_once",
]

_pathlib = LazyModule("pathlib")
_inventory = LazyModule(".inventory", __package__)

#: Attempts of a write whose folder is removed concurrently.
_ATTEMPTS = 8

#: Seconds after which the access time of an entry is updated.
_TOUCH_AFTER = 3600

#: Bytes of written entries for each byte of the ledger, and the fraction of the limit after which entries are evicted.
_LEDGER_UNIT = 1 << 16
_LEDGER_SHARE = 16


class CacheWarning(UserWarning):
    """The cache could not be used: kernels still run, some are compiled again."""


_warned: set[str] = set()


def warn_once(topic: str, message: str) -> None:
    """A CacheWarning, unless there was one about `topic` in this process."""
    if topic not in _warned:
        _warned.add(topic)
        warnings.warn(message, CacheWarning, stacklevel=4)


class KernelCache:
    """The entries in one folder: `read(key)` and `write(key, entry)`. Keys are hexadecimal.

    >>> import pathlib, tempfile
    >>> cache = KernelCache(pathlib.Path(tempfile.mkdtemp()))
    >>> cache.write("ab12", Entry({"name": "k"}, {"ttir": "module {}", "obj": b"..."}))
    True
    >>> cache.read("ab12").stages["ttir"]
    'module {}'
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = os.path.join(folder or settings.cache.dir, "kernels")
        #: why the last `read` ignored an existing file: "damaged", "untrusted", "unreadable"
        self.refused = ""

    @property
    def folder(self) -> Path:
        """The folder of the entries."""
        found: Path = _pathlib.Path(self._folder)
        return found

    def path(self, key: str) -> Path:
        """The file of an entry."""
        found: Path = _pathlib.Path(self._place(key))
        return found

    def _place(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], f"{key}.kernel")

    def read(self, key: str) -> Entry | None:
        """The entry of `key`, or None if it is missing, damaged, or not trusted."""
        data = self.read_bytes(key)
        return None if data is None else self.checked(key, data)

    def checked(self, key: str, data: bytes, place: str = "cache entry") -> Entry | None:
        """The entry in these bytes; None and a warning if they are no entry of `key`."""
        try:
            return Entry.from_bytes(data, key)
        except (ValueError, KeyError, TypeError) as error:
            self.refused = "damaged"
            warn_once(key + place, f"damaged {place} {self.path(key).name} ({error}): the kernel is compiled again")
            return None

    def read_bytes(self, key: str) -> bytes | None:
        """The bytes of the file of `key`, checked only for write permissions of others; None without one."""
        path = self._place(key)
        self.refused = ""
        try:
            with open(open_file(path), "rb", buffering=0) as f:
                status = os.fstat(f.fileno())
                if not is_trusted(status) or not is_trusted(os.stat(os.path.dirname(path))):
                    self.refused = "untrusted"
                    warn_once("trust", f"{path} could have been written by another user: it is not used")
                    return None
                if status.st_size > MAX_ENTRY:
                    return b""  # treated as damaged
                data = f.read(status.st_size)
                _touch(f.fileno(), status)
                return data
        except (FileNotFoundError, NotADirectoryError):
            return None  # without a folder, too: the write reports the error
        except OSError as error:
            self.refused = "unreadable"
            warn_once("read", f"the kernel cache cannot be read: {error}")
            return None

    def write(self, key: str, entry: Entry) -> bool:
        """Store `entry` under `key`, replacing another; False (and one warning) if that is not possible."""
        return self.write_bytes(key, entry.to_bytes(key))

    def write_bytes(self, key: str, data: bytes) -> bool:
        """`write` for the bytes of an entry."""
        path = self._place(key)
        for left in reversed(range(_ATTEMPTS)):
            try:
                os.makedirs(self._folder, 0o700, exist_ok=True)
                os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
                replace_file(path, data)
                break
            except OSError as error:
                if left and _may_pass(error, path):
                    time.sleep(0.001 * (_ATTEMPTS - left))
                    continue
                warn_once("write", f"compiled kernels cannot be kept in {self._folder}: {error}")
                return False
        with contextlib.suppress(OSError):
            self._account(len(data))
        return True

    def _account(self, size: int) -> None:
        """Record that `size` bytes were written, and evict entries if the folder may exceed its limit.

        The length of the ledger file counts the bytes written since the last eviction: a write costs one more write of
        a few bytes, and all entries are scanned once a sixteenth of the limit has been written.
        """
        limit = settings.cache.max_size
        if not limit:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        ledger = open_regular(os.path.join(os.path.dirname(self._folder), "written"), flags, 0o600)
        try:
            os.write(ledger, b"." * (size // _LEDGER_UNIT + 1))
            if os.fstat(ledger).st_size * _LEDGER_UNIT > limit // _LEDGER_SHARE:
                _inventory.evict(self.folder, limit - limit // _LEDGER_SHARE, ledger)
        finally:
            os.close(ledger)


def _may_pass(error: OSError, path: str) -> bool:
    """Whether an error of a write is temporary, as while the cache and its folders are being cleared."""
    if isinstance(error, FileExistsError):  # it existed for one call only
        return not os.path.exists(error.filename or path)
    if isinstance(error, IsADirectoryError):  # an empty folder in the place of an entry
        with contextlib.suppress(OSError):
            os.rmdir(path)
        return not os.path.isdir(path)
    return isinstance(error, FileNotFoundError)


def _touch(descriptor: int, status: os.stat_result) -> None:
    """Set a file's access time to now, unless it is recent."""
    if time.time() - max(status.st_atime, status.st_mtime) > _TOUCH_AFTER and os.utime in os.supports_fd:
        with contextlib.suppress(OSError):
            os.utime(descriptor, ns=(time.time_ns(), status.st_mtime_ns))
