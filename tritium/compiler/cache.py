"""Compiled kernels on disk: one file a kernel, readable by this program only if every byte of it is right.

An entry is

    magic (8 bytes) | SHA-256 of length and header (32) | length of the header (8, little-endian) | header | contents

where the header is JSON: the entry's key, the kernel's metadata, for each stage its name, whether it is text, and its
size, the size of the description of the key (`key.describe_key`), and the SHA-256 of the contents, which are the stages
one after another and the description. There is no pickle, no path and no time in it, so that equal compiles make equal
files, and files may be copied to another machine; under another name they are no entries.

What may go wrong does not reach the user as an error: an entry that is damaged, of another version or writable by
another user is no entry (and is written anew), and a folder that cannot be written costs time. Each is said once, as a
warning. Entries appear by atomic rename: who reads one while it is replaced reads the old or the new one.

A hit costs no more than reading the file. Its access time is set where it is older than an hour: by those times room is
made when the folder has outgrown `cache.max_size` (`inventory`).
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import warnings
from typing import TYPE_CHECKING, Any

from ..support import settings
from ..support.dataclasses import dataclass, field
from ..support.files import open_regular
from ..support.folders import cache_folder, is_trusted, open_file, replace_file
from ..support.hashing import sha256, sha256_of_many
from ..support.lazy import LazyModule

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "MAX_ENTRY",
    "CacheWarning",
    "Entry",
    "KernelCache",
    "cache_folder",
    "open_cache",
    "read_header",
    "warn_once",
]

_pathlib = LazyModule("pathlib")
_inventory = LazyModule(".inventory", __package__)
_remote = LazyModule(".remote", __package__)

_MAGIC = b"tritium2"
_PREFIX = len(_MAGIC) + 32 + 8
_MAX_HEADER = 1 << 20
#: Bytes that an entry may have.
MAX_ENTRY = 1 << 30
_MAX_STAGES = 100

#: How often a write is tried whose folder somebody removes meanwhile.
_ATTEMPTS = 8

#: Seconds for which the access time of an entry may stay as it is.
_TOUCH_AFTER = 3600

#: Bytes of written entries for which the ledger grows by one byte, and the part of the limit at which room is made.
_LEDGER_UNIT = 1 << 16
_LEDGER_SHARE = 16


class CacheWarning(UserWarning):
    """The cache could not be used as it should: kernels still run, some are compiled again."""


@dataclass
class Entry:
    """A compiled kernel's metadata (JSON values) and stages (text or bytes), in the order they were made.

    `described` are the parts of its key by name (`key.describe_key`) as JSON, for people: a hit does not read them.
    """

    metadata: dict[str, Any]
    stages: dict[str, str | bytes] = field(default_factory=dict)
    described: bytes = b"{}"

    def description(self) -> dict[str, dict[str, str]]:
        """The parts of the key by kind and name; ValueError where they are nonsense."""
        found = _parsed(self.described)
        if not isinstance(found, dict) or not all(isinstance(part, dict) for part in found.values()):
            raise ValueError("the description of the key is nonsense")
        return found

    def to_bytes(self, key: str) -> bytes:
        """The contents of the file of `key`."""
        bodies = [(n, s if isinstance(s, bytes) else s.encode(), isinstance(s, str)) for n, s in self.stages.items()]
        contents = b"".join([*(body for _, body, _ in bodies), self.described])
        header = _json(
            {
                "key": key,
                "metadata": self.metadata,
                "stages": [[name, text, len(body)] for name, body, text in bodies],
                "described": len(self.described),
                "sha256": sha256_of_many(contents).hexdigest(),
            }
        )
        rest = len(header).to_bytes(8, "little") + header
        return b"".join([_MAGIC, sha256(rest).digest(), rest, contents])

    @classmethod
    def from_bytes(cls, data: bytes, key: str) -> Entry:
        """The entry of `key` in a file's contents; ValueError saying what is wrong with them."""
        header, end = read_header(data, len(data), key)
        contents = memoryview(data)[end:]
        if sha256(contents).hexdigest() != header["sha256"]:
            raise ValueError("the checksum does not match")
        stages: dict[str, str | bytes] = {}
        at = 0
        for name, is_text, size in header["stages"]:
            body = bytes(contents[at : at + size])
            stages[name] = body.decode() if is_text else body
            at += size
        return cls(header["metadata"], stages, bytes(contents[at:]))


def read_header(data: bytes, size: int, key: str) -> tuple[dict[str, Any], int]:
    """The header at the beginning `data` of a file of `size` bytes, and where it ends; ValueError saying what is wrong.

    Whatever it says about the rest of the file is possible; that it is true, the checksum of the contents shows.
    """
    if len(data) < _PREFIX or data[:8] != _MAGIC:
        raise ValueError("not a cache entry of this version, or truncated")
    if size > MAX_ENTRY:
        raise ValueError("it is larger than any entry is")
    end = _PREFIX + int.from_bytes(data[40:48], "little")
    if end > min(size, len(data), _PREFIX + _MAX_HEADER):
        raise ValueError("the header is longer than the file, or than any is")
    if sha256(memoryview(data)[40:end]).digest() != data[8:40]:
        raise ValueError("the checksum of the header does not match")
    header = _parsed(data[_PREFIX:end])
    if not isinstance(header, dict) or not isinstance(header.get("metadata"), dict):
        raise ValueError("the header is no description of a kernel")
    if header.get("key") != key or header["metadata"].get("hash", key) != key:
        raise ValueError("it is the entry of another key")
    table, about = header.get("stages"), header.get("described")
    if not isinstance(table, list) or len(table) > _MAX_STAGES or not all(map(_is_row, table)) or not _is_size(about):
        raise ValueError("its table of stages is nonsense")
    if end + sum(row[2] for row in table) + about != size:
        raise ValueError("the stages are not as long as the header says")
    return header, end


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and row[1] in (0, 1) and _is_size(row[2])


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_ENTRY


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its description is nested too deeply") from None


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
        #: why the last `read` found nothing, where there was something: "damaged", "untrusted", "unreadable"
        self.refused = ""

    @property
    def folder(self) -> Path:
        """Where the entries are."""
        found: Path = _pathlib.Path(self._folder)
        return found

    def path(self, key: str) -> Path:
        """The file of an entry."""
        found: Path = _pathlib.Path(self._place(key))
        return found

    def _place(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], f"{key}.kernel")

    def read(self, key: str) -> Entry | None:
        """The entry of `key`, or None: missing, damaged, or not to be trusted."""
        data = self.read_bytes(key)
        return None if data is None else self.checked(key, data)

    def checked(self, key: str, data: bytes, place: str = "cache entry") -> Entry | None:
        """The entry in these bytes; None and a warning if they are none of `key`."""
        try:
            return Entry.from_bytes(data, key)
        except (ValueError, KeyError, TypeError) as error:
            self.refused = "damaged"
            warn_once(key + place, f"damaged {place} {self.path(key).name} ({error}): the kernel is compiled again")
            return None

    def read_bytes(self, key: str) -> bytes | None:
        """The file of `key`, unchecked but for who may have written it; None without one."""
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
                    return b""  # which is damaged
                data = f.read(status.st_size)
                _touch(f.fileno(), status)
                return data
        except (FileNotFoundError, NotADirectoryError):
            return None  # no folder either: the write will say why
        except OSError as error:
            self.refused = "unreadable"
            warn_once("read", f"the kernel cache cannot be read: {error}")
            return None

    def write(self, key: str, entry: Entry) -> bool:
        """Keep `entry` under `key`, whatever was there; False (and one warning) if that is not possible."""
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
        """Note that `size` bytes were written, and make room if the folder may have outgrown its limit.

        The ledger is a file as long as entries were written since room was made: so a write costs one more, of a few
        bytes, and a look at all entries is due once a sixteenth of the limit has come in.
        """
        limit = settings.cache.max_size
        if not limit:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        ledger = open_regular(os.path.join(os.path.dirname(self._folder), "written"), flags, 0o600)
        try:
            os.write(ledger, b"." * (size // _LEDGER_UNIT + 1))
            if os.fstat(ledger).st_size * _LEDGER_UNIT > limit // _LEDGER_SHARE:
                _inventory.make_room(self.folder, limit - limit // _LEDGER_SHARE, ledger)
        finally:
            os.close(ledger)


def open_cache() -> KernelCache:
    """Where this process keeps kernels: the folder, or what the settings name in its place or behind it (`remote`)."""
    if settings.cache.manager_class is None and settings.cache.remote_manager_class is None:
        return KernelCache()
    found: KernelCache = _remote.chosen_cache()
    return found


def _may_pass(error: OSError, path: str) -> bool:
    """Is what a write met gone by the next try? So it is where somebody clears the cache, and its folders."""
    if isinstance(error, FileExistsError):  # seen by one call and gone before the next
        return not os.path.exists(error.filename or path)
    if isinstance(error, IsADirectoryError):  # an empty folder in the place of an entry
        with contextlib.suppress(OSError):
            os.rmdir(path)
        return not os.path.isdir(path)
    return isinstance(error, FileNotFoundError)


def _touch(descriptor: int, status: os.stat_result) -> None:
    """Let a file's access time be now, unless it is about that."""
    if time.time() - max(status.st_atime, status.st_mtime) > _TOUCH_AFTER and os.utime in os.supports_fd:
        with contextlib.suppress(OSError):
            os.utime(descriptor, ns=(time.time_ns(), status.st_mtime_ns))
